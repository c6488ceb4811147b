#include "core/market/timeframe_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/market/civil_time.h"
#include "core/market/longer_bars.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t window = 20;  ///< longer bars that volume and volatility look back over
enum Column : std::size_t { move, range, position, volume_ratio, volatility, columns };

/// One longer bar, as far as it has come.
struct Shape {
  double open = 0, high = 0, low = 0, close = 0, volume = 0;
  void add(const FeatureInputs& in, std::size_t i, bool first) {
    if (first) *this = {in.open[i], in.high[i], in.low[i], in.close[i], 0};
    high = std::max(high, in.high[i]);
    low = std::min(low, in.low[i]);
    close = in.close[i];
    volume += in.volume[i];
  }
};

/// What a later bar of the same contract needs of one that is over.
struct Past {
  double close, change, log_volume;
};

Past past_of(const Shape& bar, const std::vector<Past>& before) {
  return {bar.close, bar.close - (before.empty() ? bar.close : before.back().close), std::log1p(bar.volume)};
}

/// The features of a bar that is over, `before` it the contract's others; price differences still in points.
std::array<double, columns> describe(const Shape& bar, const std::vector<Past>& before) {
  const Past now = past_of(bar, before);
  double squares = now.change * now.change, volumes = now.log_volume;
  const std::size_t others = std::min(before.size(), window - 1);
  for (std::size_t k = before.size() - others; k < before.size(); ++k)
    squares += before[k].change * before[k].change, volumes += before[k].log_volume;
  const auto bars = static_cast<double>(others + 1);
  std::array<double, columns> values{};
  values[move] = now.change;
  values[range] = bar.high - bar.low;
  values[position] = bar.high > bar.low ? ((bar.close - bar.low) - (bar.high - bar.close)) / (bar.high - bar.low) : 0;
  values[volume_ratio] = now.log_volume - volumes / bars;
  values[volatility] = std::sqrt(squares / bars);
  return values;
}

}  // namespace

std::vector<FeatureInfo> timeframe_feature_infos(std::int64_t minutes) {
  const auto named = [&](const char* name, const char* help) {
    return FeatureInfo{fmt::format("{}_{}m", name, minutes), fmt::format(fmt::runtime(help), minutes)};
  };
  return {named("return", "change of the close over the last {}-minute bar that is over"),
          named("range", "high less low of the last {}-minute bar that is over"),
          named("close_location", "where in the last {}-minute bar that is over it closed, -1 low to 1 high"),
          named("volume_ratio", "log volume of the last {}-minute bar that is over less its mean over 20 of them"),
          named("volatility", "root mean square change of the last 20 {}-minute bars that are over")};
}

std::vector<Series> timeframe_features(const Tape& tape, const FeatureInputs& in, std::int64_t minutes) {
  std::vector<Series> table(columns, Series(in.rows));
  std::vector<Past> before;              // bars of this contract that are over
  std::array<double, columns> values{};  // of the last of them, or of the one at hand on the row at which it is over
  for (const LongerBar& bar : longer_bars(tape, minutes * ns_per_minute, "features.timeframes")) {
    if (in.run_starts[bar.begin]) before.clear(), values = {};
    Shape shape;
    for (std::size_t i = bar.begin; i < bar.end; ++i) {
      shape.add(in, i, i == bar.begin);
      if (tape.ts[i] >= bar.stop) values = describe(shape, before);
      for (std::size_t c = 0; c < columns; ++c) {
        const bool in_points = c == move || c == range || c == volatility;
        table[c][i] = !in_points ? values[c] : in.scale[i] > 0 ? values[c] / in.scale[i] : 0;
      }
    }
    values = describe(shape, before);
    before.push_back(past_of(shape, before));
  }
  return table;
}

}  // namespace foxhunt::market
