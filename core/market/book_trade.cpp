#include "core/market/book_trade.h"

#include <fmt/format.h>

#include "core/error.h"

namespace foxhunt::market {

BookTrade trade_of(const Books& books, std::size_t i) {
  const auto refuse = [&](const char* what) {
    throw Error(ExitCode::data, fmt::format("{}: row {} of the books has {}; a row of a file can say one trade",
                                            books.source, i, what));
  };
  const std::uint32_t bought = books.buy_volume[i], sold = books.sell_volume[i];
  const std::int64_t price = books.trade_price[i];
  if (bought && sold) refuse("volume of buyers and of sellers");
  if (bought || sold) {
    if (price == no_price) refuse("volume without a price");
    return {'T', bought ? 'B' : 'A', price, bought + sold};
  }
  const bool first = i == 0 || books.instrument[i] != books.instrument[i - 1];
  if (price != (first ? no_price : books.trade_price[i - 1])) refuse("a new trade price without volume");
  return {};
}

}  // namespace foxhunt::market
