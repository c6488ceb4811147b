#include "core/market/feature_inputs.h"

#include <cmath>

namespace foxhunt::market {
namespace {

template <class Id>
std::vector<Run> runs_of(const std::vector<Id>& ids) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i == 0 || ids[i] != ids[i - 1]) runs.push_back({i, i});
    runs.back().end = i + 1;
  }
  return runs;
}

Series in_points(const std::vector<std::int64_t>& prices) {
  Series points(prices.size());
  for (std::size_t i = 0; i < prices.size(); ++i) points[i] = static_cast<double>(prices[i]) / double{price_scale};
  return points;
}

Series scale_of(const Series& true_range, const std::vector<Run>& runs) {
  Series scale = rolling_mean(true_range, 240, runs);
  for (const Run& run : runs) {
    double sum = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      sum += true_range[i];
      scale[i] = std::max(scale[i], 0.1 * sum / static_cast<double>(i - run.begin + 1));
    }
  }
  return scale;
}

}  // namespace

FeatureInputs::FeatureInputs(const Tape& tape)
    : rows(tape.rows()),
      runs(runs_of(tape.instrument)),
      sessions(runs_of(tape.session)),
      run_starts(rows),
      open(in_points(tape.bars.open)),
      high(in_points(tape.bars.high)),
      low(in_points(tape.bars.low)),
      close(in_points(tape.bars.close)),
      change(rows),
      true_range(rows),
      volume(tape.bars.volume.begin(), tape.bars.volume.end()),
      log_volume(rows),
      ts(tape.ts),
      interval(tape.bars.interval) {
  for (const Run& run : runs) run_starts[run.begin] = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const double before = run_starts[i] ? close[i] : close[i - 1];
    change[i] = close[i] - before;
    true_range[i] = std::max(high[i], before) - std::min(low[i], before);
    log_volume[i] = std::log1p(volume[i]);
  }
  scale = scale_of(true_range, runs);
}

}  // namespace foxhunt::market
