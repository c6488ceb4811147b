#pragma once
#include <array>
#include <span>
#include <vector>

#include "core/alpha/dataset.h"
#include "core/alpha/model.h"

namespace foxhunt::alpha {

/// Runs a model through a split as it would run live: through each session from its first row in the split to its last,
/// the state carried on. Sessions run side by side. The same bits as LiveModel, step by step.
class Evaluator {
 public:
  Evaluator(Device& device, const TrunkShape& shape, const Dataset& data, const market::Split& split);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void plan(Arena& arena);
  /// Probabilities that the mid is higher after each horizon, [split.rows(), 5]. NaN where a logit is.
  std::vector<float> run(DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots);
  /// The projections from which these are made, [split.rows(), 8].
  std::vector<float> projections(DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots);

  const market::Split& split() const { return split_; }
  std::size_t sessions() const { return lanes_.size(); }
  /// [sessions, hidden] as the last run left it; of sessions shorter than the longest it went on over what follows.
  DeviceSpan<float> state() const { return trunk_.initial_state(); }

 private:
  std::vector<float> outputs(DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots,
                             DeviceSpan<const float> output, std::size_t width);
  void forward(std::int64_t first, DeviceSpan<const float> parameters, const DeviceSnapshots& snapshots);
  void collect(std::int64_t first, DeviceSpan<const float> output, std::size_t width, std::vector<float>& values);

  Device& device_;
  market::Split split_;
  std::vector<market::Split> lanes_;  ///< rows of each session
  std::int64_t longest_;
  CfcTrunk trunk_;
  DeviceSpan<std::int32_t> starts_;
  DeviceSpan<std::uint8_t> labels_;
};

/// How good probabilities [split.rows(), 5] are. NaN throughout where one is not finite.
struct Scores {
  double loss = 0;      ///< mean cross-entropy over the labels of all horizons
  double mean_auc = 0;  ///< over the horizons
  std::array<double, alpha_horizons> auc{}, log_loss{};
};
Scores score(const Dataset& data, const market::Split& split, std::span<const float> probability);

}  // namespace foxhunt::alpha
