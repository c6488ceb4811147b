#pragma once
#include <functional>

#include "tests/cuda/kernel_fixture.h"

namespace foxhunt::test {

/// Losses of several inputs, each evaluated by the device; given together so that one launch can carry them.
using LossOfMany = std::function<std::vector<double>(const std::vector<std::vector<float>>&)>;

/// Central differences of a loss at `x`. The step is a hundredth of an entry's size (of 1 for small entries): float32
/// outputs carry 1e-7 of rounding, so both that over the step and the step squared stay near 1e-5.
inline std::vector<double> central_differences(const std::vector<float>& x, const LossOfMany& losses) {
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float step = 0.01f * std::max(1.0f, std::fabs(x[i]));
    for (const float moved : {x[i] + step, x[i] - step}) {
      inputs.push_back(x);
      inputs.back()[i] = moved;
    }
  }
  const std::vector<double> loss = losses(inputs);
  std::vector<double> slope;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double run = static_cast<double>(inputs[2 * i][i]) - static_cast<double>(inputs[2 * i + 1][i]);
    slope.push_back((loss[2 * i] - loss[2 * i + 1]) / run);
  }
  return slope;
}

/// Requires `gradient` to be the slope of the loss at `x`: within 1e-3 in norm, and within 1e-2 in every entry that is
/// not tiny beside the largest.
inline void require_gradient(const std::vector<float>& x, const std::vector<float>& gradient,
                             const LossOfMany& losses) {
  REQUIRE(gradient.size() == x.size());
  const std::vector<double> slope = central_differences(x, losses);
  double error = 0.0, length = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += std::pow(gradient[i] - slope[i], 2);
    length += slope[i] * slope[i];
    largest = std::max(largest, std::fabs(slope[i]));
  }
  REQUIRE(length > 0.0);
  CAPTURE(std::sqrt(error), std::sqrt(length));
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::fabs(slope[i]) < 0.05 * largest) continue;
    CAPTURE(i, slope[i], gradient[i]);
    REQUIRE(std::fabs(gradient[i] - slope[i]) < 1e-2 * std::fabs(slope[i]));
  }
  REQUIRE(std::sqrt(error) < 1e-3 * std::sqrt(length));
}

}  // namespace foxhunt::test
