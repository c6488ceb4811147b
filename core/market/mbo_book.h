#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/market/books.h"

namespace foxhunt::market {

/// One record of schema mbo.
struct OrderEvent {
  std::uint64_t order_id = 0;
  std::int64_t price = no_price;  ///< 1e-9 points
  std::uint32_t size = 0;
  char action = 'N';  ///< A add, C cancel, M modify, R clear, T trade, F fill, N none
  char side = 'N';    ///< B bid, A ask, N none
  std::uint8_t flags = 0;
};

/// The book of one instrument, order by order. Trades, fills and actions that it does not know never change it: an
/// order's fill arrives as a cancel or a modify of its own.
class MboBook {
 public:
  static constexpr std::size_t depth = 10;

  /// Applies an event and says what was wrong with it, or nullptr: "unknown order" for a cancel (a modify of one adds
  /// it), "undefined price", "order without a side". The first record of a snapshot clears the book, whether a clear
  /// comes with it or not; an order id that is added again replaces the order. A top-of-book record replaces its side.
  const char* apply(const OrderEvent& event);

  /// Whether an event since the last call touched one of the first ten levels of a side: one that was there before, or
  /// one that is there after. A modify that changes no total counts as well: mbp-10 has a row for it.
  bool take_touched() { return std::exchange(touched_, false); }

  /// The first ten levels, best first.
  void top(BookLevel* levels) const;

  std::size_t orders() const { return orders_.size(); }

 private:
  struct Order {
    std::int64_t price;
    std::uint32_t size;
    bool bid;
  };
  struct Level {
    std::int64_t price;
    std::uint64_t size;
    std::uint32_t orders;
  };
  using Orders = std::unordered_map<std::uint64_t, Order>;
  using Side = std::vector<Level>;  ///< worst first, so that most changes are at the end

  Side& side(bool bid) { return sides_[bid]; }
  void add(const OrderEvent& event, bool bid);
  void reduce(Orders::iterator order, std::uint32_t size);
  void clear();
  void clear_side(bool bid);

  Orders orders_;
  std::array<Side, 2> sides_;  ///< asks, bids
  bool touched_ = false;
  bool in_snapshot_ = false;
};

}  // namespace foxhunt::market
