#pragma once
#include "core/market/books.h"

namespace foxhunt::market {

/// The trade that a row of a file says: action 'T' and the aggressor's side, or 'N' and nothing.
struct BookTrade {
  char action = 'N', side = 'N';
  std::int64_t price = no_price;
  std::uint32_t size = 0;
};

/// The trade of row i, from which a reader gets the row's trade_price and volumes back. Throws Error(data) for a row
/// that one trade cannot say: volume of both sides, a price without volume or volume without a price.
BookTrade trade_of(const Books& books, std::size_t i);

}  // namespace foxhunt::market
