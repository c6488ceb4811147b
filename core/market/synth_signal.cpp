#include "core/market/synth_signal.h"

#include <cmath>

#include "core/market/civil_time.h"
#include "core/market/synth_random.h"
#include "core/market/synth_sessions.h"

namespace foxhunt::market {
namespace {

constexpr std::uint64_t stream = 0x9E3779B97F4A7C15;  // apart from the bars' own
constexpr std::int64_t decimals = 10'000;             // the column has four of them

bool has_next(const Bars& bars, std::size_t i) {
  return i + 1 < bars.size() && utc_day(bars.ts_open[i]) == utc_day(bars.ts_open[i + 1]);
}

/// Ticks from this close to the next.
std::int64_t next_change(const Bars& bars, std::size_t i) { return (bars.close[i + 1] - bars.close[i]) / synth_tick; }

struct Moments {
  std::int64_t count = 0, sum = 0, squares = 0;

  /// (change - mean) / standard deviation in units of synth_one. The same on every platform: whole numbers, and one
  /// root and one division, which IEEE 754 rounds in one way.
  std::int64_t standardised(std::int64_t change) const {
    const auto spread = static_cast<double>(count * squares - sum * sum);
    return std::llround(static_cast<double>((count * change - sum) * synth_one) / std::sqrt(spread));
  }
};

}  // namespace

ExtraColumn make_signal(const Bars& bars, double strength, std::uint64_t seed) {
  Moments moments;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (!has_next(bars, i)) continue;
    const std::int64_t change = next_change(bars, i);
    ++moments.count, moments.sum += change, moments.squares += change * change;
  }
  const std::int64_t share = std::llround(strength * synth_one);
  const std::int64_t rest = std::llround(std::sqrt(static_cast<double>(synth_one * synth_one - share * share)));
  SynthRandom random(seed ^ stream);
  ExtraColumn column{"signal", std::vector<double>(bars.size())};
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const std::int64_t noise = random.normal();
    const std::int64_t value =
        has_next(bars, i) ? (share * moments.standardised(next_change(bars, i)) + rest * noise) / synth_one : noise;
    column.values[i] = static_cast<double>(value * decimals / synth_one) / decimals;
  }
  return column;
}

}  // namespace foxhunt::market
