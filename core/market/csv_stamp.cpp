#include "core/market/csv_stamp.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t quarter = 15 * ns_per_minute;

bool on_quarter(std::int64_t ts) { return ts % quarter == 0; }

}  // namespace

StampGuess guess_stamp(const Bars& bars) {
  if (bars.interval >= quarter) return {false, "bars of a quarter hour or more do not tell"};
  const std::int64_t pause = std::max(2 * quarter, 10 * bars.interval);
  std::int64_t open_votes = 0, close_votes = 0;
  const auto vote = [&](std::int64_t edge_if_open, std::int64_t edge_if_close) {
    open_votes += on_quarter(edge_if_open);
    close_votes += on_quarter(edge_if_close);
  };
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const bool first = i == 0 || bars.ts_open[i] - bars.ts_open[i - 1] > pause;
    const bool last = i + 1 == bars.size() || bars.ts_open[i + 1] - bars.ts_open[i] > pause;
    if (first) vote(bars.ts_open[i], bars.ts_open[i] - bars.interval);
    if (last) vote(bars.ts_open[i] + bars.interval, bars.ts_open[i]);
  }
  const bool close = close_votes >= 3 && close_votes >= 3 * open_votes;
  return {close, fmt::format("{} ends of sessions fall on a quarter hour if times are opens, {} if they are closes",
                             open_votes, close_votes)};
}

}  // namespace foxhunt::market
