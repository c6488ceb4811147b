#include "core/alpha/evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/alpha/auc.h"
#include "core/alpha/calibration.h"
#include "core/device/launch.h"

namespace foxhunt::alpha {
namespace {

constexpr std::int64_t most_steps = 512;  ///< of one forward pass

std::int64_t longest_of(const std::vector<market::Split>& lanes) {
  std::int64_t longest = 1;
  for (const market::Split& lane : lanes) longest = std::max(longest, lane.rows());
  return longest;
}

float probability_of(float logit) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(logit)))); }

}  // namespace

Evaluator::Evaluator(Device& device, const TrunkShape& shape, const Dataset& data, const market::Split& split)
    : device_(device),
      split_(split),
      lanes_(session_ranges(data, split)),
      longest_(longest_of(lanes_)),
      trunk_(device, shape, static_cast<int>(lanes_.size()), static_cast<int>(std::min(longest_, most_steps))) {}

void Evaluator::plan(Arena& arena) {
  arena.plan("evaluation.starts", lanes_.size(), starts_);
  arena.plan("evaluation.labels", static_cast<std::size_t>(trunk_.rows()) * alpha_horizons, labels_);
  trunk_.plan(arena);
}

std::vector<float> Evaluator::run(DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots) {
  std::vector<float> probability = outputs(parameters, snapshots, trunk_.logits(), alpha_horizons);
  std::transform(probability.begin(), probability.end(), probability.begin(), probability_of);
  return probability;
}

std::vector<float> Evaluator::projections(DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots) {
  return outputs(parameters, snapshots, trunk_.projection(), alpha_projections);
}

/// What forward passes leave in `output` [trunk rows, width] of each row of the split: [split.rows(), width].
std::vector<float> Evaluator::outputs(DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots,
                                      DeviceSpan<const float> output, std::size_t width) {
  std::vector<float> values(static_cast<std::size_t>(split_.rows()) * width);
  device_.zero(trunk_.initial_state());
  for (std::int64_t first = 0; first < longest_; first += trunk_.steps()) {
    forward(first, parameters, snapshots);
    collect(first, output, width, values);
  }
  return values;
}

/// The rows of every session from its row `first` on, and the state after them.
void Evaluator::forward(std::int64_t first, DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots) {
  const int windows = trunk_.windows(), steps = trunk_.steps();
  std::vector<std::int32_t> starts;
  for (const market::Split& lane : lanes_)
    starts.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(lane.begin + first, snapshots.rows)));
  device_.upload(starts_, starts);
  launch(device_, gather_windows_kernel, snapshots.features, snapshots.seconds, snapshots.labels, starts_, trunk_.x(),
         trunk_.seconds(), labels_, snapshots.rows, windows, steps);
  trunk_.forward(parameters);
  const auto hidden = static_cast<std::size_t>(trunk_.shape().hidden);
  for (std::size_t w = 0; w < lanes_.size(); ++w) {
    const std::size_t last = (w + 1) * static_cast<std::size_t>(steps + 1) - 1;
    device_.copy(trunk_.initial_state().part(w * hidden, hidden),
                 DeviceSpan<const float>(trunk_.state().part(last * hidden, hidden)));
  }
}

void Evaluator::collect(std::int64_t first, DeviceSpan<const float> output, std::size_t width,
                        std::vector<float>& values) {
  const std::vector<float> all = device_.download(output);
  const std::int64_t steps = trunk_.steps();
  for (std::size_t w = 0; w < lanes_.size(); ++w) {
    const std::int64_t count = std::min(steps, lanes_[w].rows() - first);
    if (count <= 0) continue;
    const std::size_t from = (w * static_cast<std::size_t>(steps + 1) + 1) * width;  // row 0 is before all
    const auto to = static_cast<std::size_t>(lanes_[w].begin + first - split_.begin) * width;
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from), static_cast<std::size_t>(count) * width,
                values.begin() + static_cast<std::ptrdiff_t>(to));
  }
}

Scores score(const Dataset& data, const market::Split& split, std::span<const float> probability) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Scores scores;
  if (!std::all_of(probability.begin(), probability.end(), [](float p) { return std::isfinite(p); })) {
    scores.loss = scores.mean_auc = nan;
    scores.auc.fill(nan);
    scores.log_loss.fill(nan);
    return scores;
  }
  const std::span<const std::uint8_t> labels =
      std::span(data.labels).subspan(static_cast<std::size_t>(split.begin) * alpha_horizons, probability.size());
  double loss = 0;
  std::int64_t labelled = 0;
  for (std::size_t h = 0; h < alpha_horizons; ++h) {
    const Calibration c = calibrate(probability.subspan(h), labels.subspan(h), alpha_horizons);
    scores.auc[h] = AucCounter(probability.subspan(h), labels.subspan(h), alpha_horizons).auc();
    scores.log_loss[h] = c.log_loss;
    scores.mean_auc += scores.auc[h] / alpha_horizons;
    loss += c.log_loss * static_cast<double>(c.labels);
    labelled += c.labels;
  }
  scores.loss = labelled > 0 ? loss / static_cast<double>(labelled) : nan;
  return scores;
}

}  // namespace foxhunt::alpha
