#include "core/market/book_tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace foxhunt::market {
namespace {

std::int64_t mid_of(const BookLevel& best) { return best.bid + (best.ask - best.bid) / 2; }

/// (a - b) / (a + b); 0 where there is neither.
double imbalance(double a, double b) { return a + b > 0 ? (a - b) / (a + b) : 0; }

/// Sizes, or numbers of orders, of the first `levels` levels of each side; a level that is not there adds nothing.
struct Depth {
  double bid_size = 0, ask_size = 0, bid_count = 0, ask_count = 0;
  Depth(const BookLevel* book, int levels) {
    for (int l = 0; l < levels; ++l) {
      if (book[l].has_bid()) bid_size += book[l].bid_size, bid_count += book[l].bid_count;
      if (book[l].has_ask()) ask_size += book[l].ask_size, ask_count += book[l].ask_count;
    }
  }
};

/// What the best level's change between two books adds to the pressure upwards, contracts.
double order_flow(const BookLevel& before, const BookLevel& now) {
  const double bid = now.bid > before.bid   ? now.bid_size
                     : now.bid < before.bid ? -static_cast<double>(before.bid_size)
                                            : static_cast<double>(now.bid_size) - before.bid_size;
  const double ask = now.ask < before.ask   ? now.ask_size
                     : now.ask > before.ask ? -static_cast<double>(before.ask_size)
                                            : static_cast<double>(now.ask_size) - before.ask_size;
  return bid - ask;
}

/// One extra column, row by row.
template <class F>
void add_column(Bars& bars, const std::vector<std::size_t>& rows, const char* name, F value) {
  ExtraColumn column{name, std::vector<double>(rows.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) column.values[i] = value(i);
  bars.extra.push_back(std::move(column));
}

/// Columns of the book at each row, and of its change since the row before in the same session.
void add_book_columns(Tape& tape, const Books& books, const std::vector<std::size_t>& rows) {
  Bars& bars = tape.bars;
  const auto tick = static_cast<double>(tape.contract.tick_size);
  const auto book = [&](std::size_t i) { return books.row(rows[i]); };
  const auto starts = [&](std::size_t i) { return i == 0 || tape.session[i] != tape.session[i - 1]; };
  add_column(bars, rows, "book_spread_ticks",
             [&](std::size_t i) { return static_cast<double>(book(i)->ask - book(i)->bid) / tick; });
  add_column(bars, rows, "book_microprice_ticks", [&](std::size_t i) {
    const BookLevel& best = *book(i);
    const double lean = imbalance(best.bid_size, best.ask_size);
    return lean * static_cast<double>(best.ask - best.bid) / (2 * tick);
  });
  for (const int levels : {1, 3, 10}) {
    if (levels > books.levels) break;
    add_column(bars, rows, fmt::format("book_size_imbalance_{}", levels).c_str(), [&](std::size_t i) {
      const Depth depth(book(i), levels);
      return imbalance(depth.bid_size, depth.ask_size);
    });
    add_column(bars, rows, fmt::format("book_order_imbalance_{}", levels).c_str(), [&](std::size_t i) {
      const Depth depth(book(i), levels);
      return imbalance(depth.bid_count, depth.ask_count);
    });
  }
  add_column(bars, rows, "book_log_depth", [&](std::size_t i) {
    const Depth depth(book(i), books.levels);
    return std::log1p(depth.bid_size + depth.ask_size);
  });
  add_column(bars, rows, "book_order_flow", [&](std::size_t i) {
    const double flow = starts(i) ? 0 : order_flow(*book(i - 1), *book(i));
    return std::copysign(std::log1p(std::fabs(flow)), flow);
  });
  add_column(bars, rows, "book_trade_flow", [&](std::size_t i) {
    const double flow = static_cast<double>(books.buy_volume[rows[i]]) - books.sell_volume[rows[i]];
    return std::copysign(std::log1p(std::fabs(flow)), flow);
  });
  add_column(bars, rows, "book_log_wait", [&](std::size_t i) {
    return starts(i) ? 0 : std::log1p(static_cast<double>(tape.ts[i] - tape.ts[i - 1]) * 1e-6);
  });
}

/// Fill prices and the spread paid for them. `own` is each row's own half spread.
void mark_fills(Tape& tape, const std::vector<std::int64_t>& own, std::int64_t latency) {
  std::size_t fill = 0;
  for (std::size_t i = 0; i < tape.rows(); ++i) {
    if (tape.flags[i] & last_of_session) continue;
    fill = std::max(fill, i + 1);
    while (!(tape.flags[fill] & last_of_session) && tape.ts[fill] <= tape.ts[i] + latency) ++fill;
    tape.fill_mid[i] = tape.mid[fill];
    tape.half_spread[i] = own[fill];
  }
}

}  // namespace

Tape make_book_tape(const Books& books, const Contract& contract, const BookTapeOptions& options,
                    const std::vector<ExtraColumn>& more) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < books.rows(); ++i)
    if (books.two_sided(i)) rows.push_back(i);
  if (rows.size() < 2)
    throw Error(ExitCode::data, fmt::format("{}: {} of {} books have a bid and an ask; a tape needs two such rows",
                                            books.source, rows.size(), books.rows()));
  Tape tape;
  tape.contract = contract;
  Bars& bars = tape.bars;
  bars.symbols = books.symbols;
  bars.rejects = books.rejects;
  bars.notes = books.notes;
  bars.schema = books.schema;
  bars.source = books.source;
  bars.interval = 1;
  if (rows.size() < books.rows())
    bars.rejects["one-sided book"] += static_cast<std::int64_t>(books.rows() - rows.size());
  for (const std::size_t r : rows) {
    const BookLevel& best = *books.row(r);
    tape.ts.push_back(books.ts_recv[r]);
    tape.mid.push_back(mid_of(best));
    tape.half_spread.push_back((best.ask - best.bid) / 2);
    tape.instrument.push_back(books.instrument[r]);
    bars.ts_open.push_back(books.ts_recv[r] - bars.interval);
    bars.volume.push_back(std::uint64_t{books.buy_volume[r]} + books.sell_volume[r]);
  }
  bars.open = bars.high = bars.low = bars.close = tape.mid;
  bars.instrument = tape.instrument;
  tape.fill_mid = tape.mid;
  const std::vector<std::int64_t> own = tape.half_spread;
  mark_sessions(tape, options.tape);
  mark_fills(tape, own, options.latency);
  add_book_columns(tape, books, rows);
  for (const ExtraColumn& column : more) {
    if (column.values.size() != books.rows())
      throw Error(ExitCode::data, fmt::format("{}: column {} has {} values for {} books", books.source, column.name,
                                              column.values.size(), books.rows()));
    add_column(bars, rows, column.name.c_str(), [&](std::size_t i) { return column.values[rows[i]]; });
  }
  return tape;
}

Bars bars_of_trades(const Trades& trades, std::int64_t interval) {
  if (trades.rows() == 0) throw Error(ExitCode::data, fmt::format("{}: no trade to make bars of", trades.source));
  Bars bars;
  bars.symbols = trades.symbols;
  bars.rejects = trades.rejects;
  bars.notes = trades.notes;
  bars.schema = trades.schema;
  bars.source = trades.source;
  bars.interval = interval;
  for (std::size_t i = 0; i < trades.rows(); ++i) {
    const std::int64_t start = trades.ts_recv[i] - trades.ts_recv[i] % interval;
    const std::int64_t price = trades.price[i];
    if (bars.size() == 0 || bars.ts_open.back() != start || bars.instrument.back() != trades.instrument[i]) {
      bars.ts_open.push_back(start);
      for (auto* column : {&bars.open, &bars.high, &bars.low, &bars.close}) column->push_back(price);
      bars.volume.push_back(trades.size[i]);
      bars.instrument.push_back(trades.instrument[i]);
      continue;
    }
    bars.high.back() = std::max(bars.high.back(), price);
    bars.low.back() = std::min(bars.low.back(), price);
    bars.close.back() = price;
    bars.volume.back() += trades.size[i];
  }
  return bars;
}

}  // namespace foxhunt::market
