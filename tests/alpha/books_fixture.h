#pragma once
// Books made row by row, and random ones of random sessions.
#include <random>
#include <string>

#include "core/alpha/dataset.h"
#include "tests/market/market_test.h"

namespace foxhunt::alpha {

using market::error_of, market::require_says;

inline constexpr std::int64_t ms = 1'000'000, second = 1'000 * ms, monday_noon = 1'704'715'200 * second;
inline constexpr std::int64_t half_tick = 125'000'000;

/// A row whose best prices are `half_ticks` half ticks above 1000, a tick apart, with ten levels of sizes that tell
/// rows apart; zero sizes where a side is to be missing.
inline void add_book(market::Books& books, std::int64_t ts, std::int64_t half_ticks, std::uint32_t instrument = 1,
                     bool one_sided = false) {
  const auto tag = static_cast<std::uint32_t>(books.rows());
  books.levels = book_levels, books.schema = "mbp-10", books.source = "made";
  for (std::int64_t l = 0; l < book_levels; ++l) {
    const std::int64_t mid = 1000 * 8 * half_tick + half_ticks * half_tick, away = (2 * l + 1) * half_tick;
    market::BookLevel level{mid - away, mid + away, 10 + tag % 7, 20 + tag % 5, 1, 2};
    if (one_sided) level.ask = market::no_price, level.ask_size = level.ask_count = 0;
    books.level.push_back(level);
  }
  books.ts_event.push_back(ts), books.ts_recv.push_back(ts);
  books.trade_price.push_back(1000 * 8 * half_tick), books.instrument.push_back(instrument);
  books.buy_volume.push_back(tag % 3), books.sell_volume.push_back(tag % 2);
}

inline Horizons in_rows(std::array<std::int64_t, alpha_horizons> rows) {
  Horizons horizons;
  for (std::size_t h = 0; h < alpha_horizons; ++h) horizons[h].rows = rows[h];
  return horizons;
}
inline Horizons in_time(std::array<std::int64_t, alpha_horizons> nanoseconds) {
  Horizons horizons;
  for (std::size_t h = 0; h < alpha_horizons; ++h) horizons[h].nanoseconds = nanoseconds[h];
  return horizons;
}

inline DatasetOptions options_of(const Horizons& horizons, int steps = 8) {
  DatasetOptions options;
  options.horizons = horizons, options.steps = steps;
  options.contract = {"ES", 2 * half_tick, 50, 0, "none"};
  options.session_gap = 60 * second;
  options.train_fraction = 0.6, options.validation_fraction = 0.2;
  return options;
}

/// A random walk of half ticks over sessions of random lengths, divided by pauses or by another instrument, with rows
/// that share a time, quiet spells and one-sided books.
inline market::Books random_books(std::mt19937_64& random, std::size_t rows) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  market::Books books;
  std::int64_t ts = monday_noon, mid = 0;
  std::uint32_t instrument = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int64_t chance = below(200);
    if (chance == 0) ts += (61 + below(1000)) * second;
    if (chance == 1) ++instrument;
    ts += below(4) ? below(400 * ms) : 0;
    mid += below(3) - 1;
    add_book(books, ts, mid, instrument, below(50) == 0);
  }
  return books;
}

}  // namespace foxhunt::alpha
