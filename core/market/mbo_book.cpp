#include "core/market/mbo_book.h"

#include <algorithm>
#include <utility>

#include "core/market/dbn_format.h"

namespace foxhunt::market {
namespace {

std::uint32_t saturated(std::uint64_t size) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, UINT32_MAX));
}

/// The first level, from the worst one on, that is at `price` or better. Most orders are near the best price, which is
/// at the end: walk a little, then search.
template <class Levels>
auto find_level(Levels& levels, std::int64_t price, bool bid) {
  const auto worse = [=](const auto& level) { return bid ? level.price < price : level.price > price; };
  constexpr int walk = 16;
  auto at = levels.end();
  for (int step = 0; step < walk && at != levels.begin(); ++step, --at)
    if (worse(*(at - 1))) return at;
  return std::partition_point(levels.begin(), at, worse);
}

}  // namespace

const char* MboBook::apply(const OrderEvent& event) {
  const bool snapshot = event.flags & dbn::flag::snapshot;
  if (snapshot && !in_snapshot_) clear();
  in_snapshot_ = snapshot;
  if (event.action == 'R') return clear(), nullptr;
  if (event.action == 'C') {
    const auto order = orders_.find(event.order_id);
    if (order == orders_.end()) return "unknown order";
    return reduce(order, event.size), nullptr;
  }
  if (event.action != 'A' && event.action != 'M') return nullptr;

  const bool bid = event.side == 'B', top_of_book = event.flags & dbn::flag::top_of_book;
  if (!bid && event.side != 'A') return "order without a side";
  if (top_of_book) clear_side(bid);
  if (event.price == no_price) return top_of_book ? nullptr : "undefined price";  // this side has no best price
  if (const auto old = orders_.find(event.order_id); old != orders_.end()) reduce(old, old->second.size);
  add(event, bid);
  return nullptr;
}

void MboBook::add(const OrderEvent& event, bool bid) {
  orders_.insert_or_assign(event.order_id, Order{event.price, event.size, bid});
  Side& levels = side(bid);
  auto at = find_level(levels, event.price, bid);
  if (at == levels.end() || at->price != event.price) at = levels.insert(at, Level{event.price, 0, 0});
  at->size += event.size, ++at->orders;
  touched_ |= levels.end() - at <= static_cast<std::ptrdiff_t>(depth);
}

/// Takes `size` contracts off an order, which goes when none is left.
void MboBook::reduce(Orders::iterator order, std::uint32_t size) {
  const Order was = order->second;
  Side& levels = side(was.bid);
  const auto level = find_level(levels, was.price, was.bid);
  touched_ |= levels.end() - level <= static_cast<std::ptrdiff_t>(depth);
  const std::uint32_t taken = std::min(size, was.size);
  level->size -= taken;
  order->second.size -= taken;
  if (order->second.size > 0) return;
  orders_.erase(order);
  if (--level->orders == 0) levels.erase(level);
}

void MboBook::clear() {
  touched_ |= !sides_[0].empty() || !sides_[1].empty();
  orders_.clear();
  for (Side& levels : sides_) levels.clear();
}

void MboBook::clear_side(bool bid) {
  touched_ |= !side(bid).empty();
  std::erase_if(orders_, [bid](const auto& order) { return order.second.bid == bid; });
  side(bid).clear();
}

void MboBook::top(BookLevel* levels) const {
  const Side &asks = sides_[0], &bids = sides_[1];
  for (std::size_t i = 0; i < depth; ++i) {
    BookLevel& to = levels[i] = BookLevel{};
    if (i < bids.size()) {
      const Level& bid = bids[bids.size() - 1 - i];
      to.bid = bid.price, to.bid_size = saturated(bid.size), to.bid_count = bid.orders;
    }
    if (i < asks.size()) {
      const Level& ask = asks[asks.size() - 1 - i];
      to.ask = ask.price, to.ask_size = saturated(ask.size), to.ask_count = ask.orders;
    }
  }
}

}  // namespace foxhunt::market
