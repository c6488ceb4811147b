#include "core/market/book_collector.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/market/contract.h"
#include "core/market/dbn_format.h"
#include "core/market/row_choice.h"

namespace foxhunt::market {
namespace {

std::uint32_t saturated(std::uint64_t size) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX));
}

bool in_range(std::int64_t price) { return -largest_price <= price && price <= largest_price; }

}  // namespace

BookCollector::BookCollector(int levels, const std::string& wanted, const SymbolNames& symbols)
    : symbols_(symbols), filter_(wanted, symbols) {
  books_.levels = levels;
}

BookCollector::Instrument& BookCollector::of(std::uint32_t id) {
  if (last_ && id == last_id_) return *last_;
  auto& instrument = instruments_[id];
  if (!instrument) {
    instrument = std::make_unique<Instrument>();
    instrument->wanted = filter_.wants(id);
  }
  last_id_ = id;
  return *(last_ = instrument.get());
}

void BookCollector::reserve(std::size_t rows) {
  each_column(books_, [&](auto& column, std::size_t width) { column.reserve(column.size() + rows * width); });
}

void BookCollector::add_trade(Instrument& instrument, std::int64_t price, std::uint32_t size, char side) {
  if (price == no_price) return reject("trade without a price");
  if (!in_range(price)) return reject("price out of range");
  instrument.trade_price = price;
  if (side == 'B')
    instrument.bought += size;
  else if (side == 'A')
    instrument.sold += size;
  else
    books_.volume_of_no_side += size;
}

const char* BookCollector::fault(const Instrument& instrument, std::uint64_t ts_recv, const BookLevel& best) {
  if (ts_recv > dbn::latest_time) return "undefined time";
  if (static_cast<std::int64_t>(ts_recv) < instrument.last_recv) return "time goes backwards";
  if (!best.has_bid() && !best.has_ask()) return "empty book";
  if ((best.has_bid() && !in_range(best.bid)) || (best.has_ask() && !in_range(best.ask))) return "price out of range";
  if (best.has_bid() && best.has_ask() && best.bid > best.ask) return "crossed book";
  return nullptr;
}

void BookCollector::add(Instrument& instrument, std::uint32_t id, std::uint64_t ts_event, std::uint64_t ts_recv,
                        const char* levels) {
  BookLevel best;
  std::memcpy(&best, levels, sizeof best);
  if (const char* reason = fault(instrument, ts_recv, best)) return reject(reason);
  instrument.last_recv = static_cast<std::int64_t>(ts_recv);
  books_.level.append(levels, static_cast<std::size_t>(books_.levels));
  books_.ts_event.push_back(static_cast<std::int64_t>(ts_event));
  books_.ts_recv.push_back(instrument.last_recv);
  books_.trade_price.push_back(instrument.trade_price);
  books_.buy_volume.push_back(saturated(std::exchange(instrument.bought, 0)));
  books_.sell_volume.push_back(saturated(std::exchange(instrument.sold, 0)));
  books_.instrument.push_back(id);
}

Books BookCollector::finish() && {
  if (unwanted_) books_.rejects["not the chosen instrument"] += unwanted_;
  books_.symbols = symbols_;
  keep_one_instrument(books_,
                      [&](std::size_t row) { return std::uint64_t{books_.buy_volume[row]} + books_.sell_volume[row]; });
  return std::move(books_);
}

}  // namespace foxhunt::market
