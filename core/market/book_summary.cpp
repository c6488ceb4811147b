#include <algorithm>
#include <numeric>

#include "core/market/civil_time.h"
#include "core/market/decimal.h"
#include "core/market/session_divider.h"
#include "core/market/summary_lines.h"

namespace foxhunt::market {
namespace {

/// Lowest and highest of some prices.
struct PriceRange {
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  void add(std::int64_t price) { low = std::min(low, price), high = std::max(high, price); }
  std::string text() const { return low > high ? "none" : format_price(low) + " to " + format_price(high); }
};

/// Sessions, gaps and rolls of rows that come when something happens: a pause of over a minute is a gap.
template <class Table>
void describe_course(std::string& text, const Table& table, const TapeOptions& options) {
  std::vector<std::string> notes;
  const SessionCalendar calendar = calendar_for(options.calendar, contract_of_first(table), notes);
  SessionDivider divider(calendar, options.session_gap);
  std::int64_t sessions = table.rows() > 0, gaps = 0, longest = 0, rolls = 0;
  std::string roll_times;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const bool roll = i > 0 && table.instrument[i] != table.instrument[i - 1];
    const bool starts = divider.starts_session(table.ts_recv[i], table.ts_recv[i], roll);
    if (i == 0) continue;
    const std::int64_t pause = table.ts_recv[i] - table.ts_recv[i - 1];
    if (roll) {
      ++rolls;
      roll_times += fmt::format("; {}: instrument {} to {}", format_utc(table.ts_recv[i]), table.instrument[i - 1],
                                table.instrument[i]);
    }
    if (starts)
      ++sessions;
    else if (pause > ns_per_minute)
      ++gaps, longest = std::max(longest, pause);
  }
  divider.add_notes(notes);
  for (const std::string& note : notes) add_line(text, "note", note);
  add_line(text, "calendar", calendar.name());
  add_line(text, "sessions", std::to_string(sessions));
  add_line(text, "gaps",
           fmt::format("{} of over a minute within sessions{}", gaps,
                       gaps ? fmt::format(", the longest {} s", longest / ns_per_second) : ""));
  add_line(text, "rolls", std::to_string(rolls) + roll_times);
}

template <class Table>
void describe_rows(std::string& text, const Table& table) {
  add_line(text, "schema", table.schema);
  if (table.rows() > 0) {
    add_line(text, "symbols", list_symbols(table));
    add_line(text, "span",
             format_utc(table.ts_recv.front()) + " to " + format_utc(table.ts_recv.back()) + " UTC, as received");
  }
  add_line(text, "rows", std::to_string(table.rows()));
  add_line(text, "left out", list_or_none(table.rejects));
  for (const std::string& note : table.notes) add_line(text, "note", note);
}

std::uint64_t sum(const Column<std::uint32_t>& column) {
  return std::accumulate(column.begin(), column.end(), std::uint64_t{0});
}

}  // namespace

void describe_books(std::string& text, const Books& books, const TapeOptions& options) {
  describe_rows(text, books);
  const auto crossed = books.rejects.find("crossed book");
  add_line(text, "crossed", fmt::format("{} rows", crossed == books.rejects.end() ? 0 : crossed->second));
  std::int64_t one_sided = 0, whole = 0;
  PriceRange mids;
  for (std::size_t i = 0; i < books.rows(); ++i) {
    const BookLevel *best = books.row(i), *end = best + books.levels;
    if (books.two_sided(i))
      mids.add(best->bid + (best->ask - best->bid) / 2);
    else
      ++one_sided;
    whole += std::all_of(best, end, [](const BookLevel& level) { return level.has_bid() && level.has_ask(); });
  }
  add_line(text, "levels",
           fmt::format("{}; {} rows have all of them on both sides, {} are one-sided", books.levels, whole, one_sided));
  add_line(text, "mids", mids.text());
  add_line(text, "traded",
           fmt::format("{} contracts bought, {} sold by aggressors, {} without one", sum(books.buy_volume),
                       sum(books.sell_volume), books.volume_of_no_side));
  describe_course(text, books, options);
}

void describe_trades(std::string& text, const Trades& trades, const TapeOptions& options) {
  describe_rows(text, trades);
  PriceRange prices;
  for (const std::int64_t price : trades.price) prices.add(price);
  add_line(text, "prices", prices.text());
  add_line(text, "traded", fmt::format("{} contracts", sum(trades.size)));
  describe_course(text, trades, options);
}

void describe_definitions(std::string& text, const std::map<std::uint32_t, InstrumentDefinition>& definitions) {
  add_line(text, "schema", "definition");
  add_line(text, "rows", fmt::format("{} instruments", definitions.size()));
  for (const auto& [id, definition] : definitions) {
    const auto& [symbol, asset, currency, tick, multiplier, expiration] = definition;
    add_line(text, symbol,
             fmt::format("instrument {}, root {}, tick {}, {} {} a point, expires {}", id,
                         asset.empty() ? "not defined" : asset, tick ? format_price(*tick) : "not defined",
                         multiplier ? fmt::format("{}", *multiplier) : "undefined", currency,
                         expiration ? format_utc(*expiration) : "never"));
  }
}

}  // namespace foxhunt::market
