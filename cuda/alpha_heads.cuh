#pragma once
// The heads of one row, a number at a time.
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// Number k of the projection of state [hidden]; the lanes of the tile share the sum, and each gets it.
DEVICE float project(const Tile& tile, const float* state, const float* projector, int hidden, int k) {
  float sum = 0.0f;
  for (int i : tile.over(hidden)) sum += state[i] * projector[i * alpha_projections + k];
  return tanhf(tile.sum(sum) + projector[hidden * alpha_projections + k]);
}

/// Logit z of a projection [8].
DEVICE float logit_of(const float* projection, const float* heads, int z) {
  float logit = heads[alpha_projections * alpha_horizons + z];
  UNROLL for (int k = 0; k < alpha_projections; ++k) logit += projection[k] * heads[k * alpha_horizons + z];
  return logit;
}

}  // namespace foxhunt::cuda
