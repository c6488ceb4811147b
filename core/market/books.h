#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/market/column.h"

namespace foxhunt::market {

inline constexpr std::int64_t no_price = INT64_MAX;  ///< an undefined price, as DBN writes it

/// One level of both sides, laid out as in DBN, so that the levels of a row are one copy.
struct BookLevel {
  std::int64_t bid = no_price, ask = no_price;  ///< 1e-9 points; no_price where the level is not there
  std::uint32_t bid_size = 0, ask_size = 0;     ///< contracts
  std::uint32_t bid_count = 0, ask_count = 0;   ///< orders; 0 where the venue does not say

  /// A side is there when it has a price and a size: real files hold levels with one of the two.
  bool has_bid() const { return bid != no_price && bid_size != 0; }
  bool has_ask() const { return ask != no_price && ask_size != 0; }
  bool operator==(const BookLevel&) const = default;
};
static_assert(sizeof(BookLevel) == 32);

/// Snapshots of a book as a reader delivers them, best level first: one row a record of schema mbp-10, mbp-1 or tbbo;
/// of mbo, one a trade and one an event that touched the first ten levels, which are the rows of the same market's
/// mbp-10. The row of a trade shows the book that the trade found.
///
/// Rows ascend by ts_recv, at which a row is known; several may share one. They are left out and counted in `rejects`
/// when their time is undefined or goes backwards, when the book is empty, and when it is crossed (bid above ask). One
/// instrument at a time: see ReadOptions::instrument. A one-sided book stays (a model masks it; it has no mid): ask
/// two_sided(). So does a locked one (bid equals ask) and a price of zero, which is legal for a spread.
struct Books {
  int levels = 0;                       ///< 1 or 10
  Column<BookLevel> level;              ///< [rows, levels]; as in the file, undefined levels included
  Column<std::int64_t> ts_event;        ///< UTC ns, the venue's clock; need not ascend
  Column<std::int64_t> ts_recv;         ///< UTC ns
  Column<std::int64_t> trade_price;     ///< 1e-9 points, last trade at or before this row; no_price before the first
  Column<std::uint32_t> buy_volume;     ///< contracts bought by aggressors since this instrument's previous row
  Column<std::uint32_t> sell_volume;    ///< contracts sold by them. Rows left out pass theirs on to the next one
  Column<std::uint32_t> instrument;     ///< instrument id
  std::uint64_t volume_of_no_side = 0;  ///< contracts traded without an aggressor (auctions): in neither column

  std::map<std::uint32_t, std::string> symbols;  ///< raw symbol of an instrument id, where the file says so
  std::map<std::string, std::int64_t> rejects;   ///< rows (of mbo: also orders) left out, by reason
  std::vector<std::string> notes;                ///< of damaged files, what was kept and lost, a line each
  std::string schema;                            ///< e.g. "mbp-10"
  std::string source;                            ///< file or folder it came from

  std::size_t rows() const { return ts_recv.size(); }
  const BookLevel* row(std::size_t i) const { return level.data() + i * static_cast<std::size_t>(levels); }
  /// Whether row i has a best bid and a best ask, and so a mid.
  bool two_sided(std::size_t i) const { return row(i)->has_bid() && row(i)->has_ask(); }
};

/// Calls f(column, values per row) for every column.
template <class F>
void each_column(Books& books, F f) {
  f(books.level, static_cast<std::size_t>(books.levels));
  f(books.ts_event, 1), f(books.ts_recv, 1), f(books.trade_price, 1);
  f(books.buy_volume, 1), f(books.sell_volume, 1), f(books.instrument, 1);
}

/// Trades of schema trades, ascending by ts_recv; several may share one. Left out and counted: undefined price, size
/// zero, undefined or backwards time.
struct Trades {
  Column<std::int64_t> ts_event, ts_recv;  ///< UTC ns
  Column<std::int64_t> price;              ///< 1e-9 points
  Column<std::uint32_t> size;              ///< contracts
  Column<char> side;                       ///< of the aggressor: 'B' buys, 'A' sells, 'N' not known
  Column<std::uint32_t> instrument;

  std::map<std::uint32_t, std::string> symbols;
  std::map<std::string, std::int64_t> rejects;
  std::vector<std::string> notes;
  std::string schema, source;

  std::size_t rows() const { return ts_recv.size(); }
};

template <class F>
void each_column(Trades& trades, F f) {
  f(trades.ts_event, 1), f(trades.ts_recv, 1), f(trades.price, 1);
  f(trades.size, 1), f(trades.side, 1), f(trades.instrument, 1);
}

}  // namespace foxhunt::market
