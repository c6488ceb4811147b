#pragma once
// The heads of one row.
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// The projection of state [hidden]; the lanes of the tile share the sums, and each gets them.
DEVICE void project(const Tile& tile, const float* state, const float* projector, int hidden,
                    float (&p)[alpha_projections]) {
  UNROLL for (float& sum : p) sum = 0.0f;
  for (int i : tile.over(hidden)) {
    const float h = state[i];
    UNROLL for (int k = 0; k < alpha_projections; ++k) p[k] += h * projector[i * alpha_projections + k];
  }
  const float* bias = projector + hidden * alpha_projections;
  UNROLL for (int k = 0; k < alpha_projections; ++k) p[k] = tanhf(tile.sum(p[k]) + bias[k]);
}

/// Logit z of a projection [8].
DEVICE float logit_of(const float* projection, const float* heads, int z) {
  float logit = heads[alpha_projections * alpha_horizons + z];
  UNROLL for (int k = 0; k < alpha_projections; ++k) logit += projection[k] * heads[k * alpha_horizons + z];
  return logit;
}

}  // namespace foxhunt::cuda
