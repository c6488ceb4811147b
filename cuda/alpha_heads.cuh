#pragma once
// The heads of one row.
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// Numbers [first, first + count) of the projection of state [hidden]; the lanes of the tile share the sums, and each
/// gets them.
template <int count>
DEVICE void project(const Tile& tile, const float* state, const float* projector, int hidden, int first,
                    float (&p)[count]) {
  UNROLL for (int k = 0; k < count; ++k) p[k] = 0.0f;
  for (int i : tile.over(hidden)) {
    const float h = state[i];
    const float* row = projector + i * alpha_projections + first;
    UNROLL for (int k = 0; k < count; ++k) p[k] += h * row[k];
  }
  const float* bias = projector + hidden * alpha_projections + first;
  UNROLL for (int k = 0; k < count; ++k) p[k] = tanhf(tile.sum(p[k]) + bias[k]);
}

/// Logit z of a projection [8].
DEVICE float logit_of(const float* projection, const float* heads, int z) {
  float logit = heads[alpha_projections * alpha_horizons + z];
  UNROLL for (int k = 0; k < alpha_projections; ++k) logit += projection[k] * heads[k * alpha_horizons + z];
  return logit;
}

}  // namespace foxhunt::cuda
