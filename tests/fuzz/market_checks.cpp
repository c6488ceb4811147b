#include "tests/fuzz/market_checks.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/market/dbn_format.h"
#include "tests/fuzz/target.h"

namespace foxhunt::fuzz {
namespace {

using namespace market;

void check_columns(auto& table) {
  each_column(table, [&](const auto& column, std::size_t width) {
    require(column.size() == table.rows() * width, "columns differ in length");
  });
  std::map<std::uint32_t, std::int64_t> latest;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const auto last = latest.try_emplace(table.instrument[i], table.ts_recv[i]).first;
    require(table.ts_recv[i] >= last->second, "times of an instrument go backwards");
    last->second = table.ts_recv[i];
  }
}

/// Column by column; each_column() takes no two tables.
template <class Table>
std::string bytes_of(Table& table) {
  std::string bytes;
  each_column(table, [&](const auto& column, std::size_t) {
    for (const auto& value : column) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  });
  return bytes;
}

}  // namespace

MemoryLimit with_zstd_window(MemoryLimit limit, std::string_view file) {
  const bool is_frame = file.starts_with("\x28\xb5\x2f\xfd");
  const bool is_skippable = file.size() >= 4 && file.substr(1, 3) == "\x2a\x4d\x18";
  if (is_frame || is_skippable) limit.fixed += std::size_t{130} << 20;
  return limit;
}

void check_bars(const Bars& bars) {
  require(bars.size() > 0, "no bar, and no error");
  try {
    make_tape(bars, contract_for("ES"), {});
  } catch (const Error&) {
    throw Finding("bars that were read make no tape");
  }
  for (std::size_t i = 0; i < bars.size(); ++i)
    require(
        bars.low[i] <= std::min(bars.open[i], bars.close[i]) && std::max(bars.open[i], bars.close[i]) <= bars.high[i],
        "a bar's open or close lies outside its range");
}

void check_books(Books& books) {
  require(books.levels == 1 || books.levels == 10, "neither one level nor ten");
  check_columns(books);
  for (std::size_t i = 0; i < books.rows(); ++i) {
    const BookLevel& best = *books.row(i);
    require(best.has_bid() || best.has_ask(), "an empty book");
    require(!books.two_sided(i) || best.bid <= best.ask, "a crossed book");
  }
}

void check_trades(Trades& trades) {
  check_columns(trades);
  require(std::find(trades.size.begin(), trades.size.end(), 0U) == trades.size.end(), "a trade of size zero");
  require(std::find(trades.price.begin(), trades.price.end(), no_price) == trades.price.end(),
          "a trade without a price");
}

bool same_rows(const Bars& a, const Bars& b) {
  return a.ts_open == b.ts_open && a.open == b.open && a.high == b.high && a.low == b.low && a.close == b.close &&
         a.volume == b.volume && a.instrument == b.instrument && a.interval == b.interval && a.symbols == b.symbols &&
         a.rejects == b.rejects;
}
bool same_rows(Books& a, Books& b) {
  return a.levels == b.levels && bytes_of(a) == bytes_of(b) && a.symbols == b.symbols && a.rejects == b.rejects;
}
bool same_rows(Trades& a, Trades& b) {
  return bytes_of(a) == bytes_of(b) && a.symbols == b.symbols && a.rejects == b.rejects;
}

}  // namespace foxhunt::fuzz
