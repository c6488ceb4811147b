#pragma once
#include <algorithm>
#include <cstddef>
#include <span>

#include "core/kernels.h"

namespace foxhunt::alpha {

/// The matrices of TrunkLayout, as serve_snapshots_kernel loads them: input [41, hidden], recurrent [hidden + 1,
/// hidden], projector [hidden + 1, 8], heads [9, 5].
inline ServedWeights served_weights(std::span<const float> input, std::span<const float> recurrent,
                                    std::span<const float> projector, std::span<const float> heads) {
  ServedWeights served{};
  const std::size_t hidden = projector.size() / alpha_projections - 1;
  const auto set_row = [&](std::size_t row, std::span<const float> from) {
    for (std::size_t j = 0; j < hidden; ++j) served.column[row / 4][j][row % 4] = from[j];
  };
  for (std::size_t i = 0; i <= snapshot_features; ++i)
    set_row(ServedWeights::input + i, input.subspan(i * hidden, hidden));
  for (std::size_t i = 0; i < hidden; ++i) set_row(ServedWeights::recurrent + i, recurrent.subspan(i * hidden, hidden));
  std::copy_n(recurrent.last(hidden).begin(), hidden, served.theta);
  for (std::size_t k = 0; k < alpha_projections; ++k) {
    for (std::size_t i = 0; i < hidden; ++i) served.heads.projector[k][i] = projector[i * alpha_projections + k];
    served.heads.projector_bias[k] = projector[hidden * alpha_projections + k];
  }
  std::copy(heads.begin(), heads.end(), served.heads.heads);
  return served;
}

}  // namespace foxhunt::alpha
