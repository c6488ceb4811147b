// From the state of the trunk to eight numbers and from these to five logits, and their loss. One tile a row.
#include "cuda/alpha_heads.cuh"
#include "cuda/guard.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {
constexpr int outputs = alpha_projections, horizons = alpha_horizons;
/// Of a label that is neither up nor down.
DEVICE bool masked(uint8_t label) { return label > 1; }
}  // namespace

KERNEL void LAUNCH_BOUNDS(128)
    multi_horizon_heads_kernel(const float* __restrict__ state, const float* __restrict__ projector,
                               const float* __restrict__ heads, float* __restrict__ projection,
                               float* __restrict__ logits, int rows, int hidden) {
  const Tile tile;
  for (int r : tile_per_item(rows)) {
    float p[outputs];
    project(tile, state + static_cast<int64_t>(r) * hidden, projector, hidden, p);
    if (tile.lane == 0) UNROLL for (int k = 0; k < outputs; ++k) projection[r * outputs + k] = p[k];
    for (int z : tile.over(horizons)) logits[r * horizons + z] = logit_of(p, heads, z);
  }
}

KERNEL void LAUNCH_BOUNDS(128)
    multi_horizon_heads_backward_kernel(const float* __restrict__ d_logits, const float* __restrict__ projection,
                                        const float* __restrict__ projector, const float* __restrict__ heads,
                                        float* __restrict__ d_projected, float* __restrict__ d_state, int rows,
                                        int hidden) {
  const Tile tile;
  for (int r : tile_per_item(rows)) {
    float d[outputs];
    UNROLL for (int k = 0; k < outputs; ++k) {
      float sum = 0.0f;
      UNROLL for (int z = 0; z < horizons; ++z) sum += d_logits[r * horizons + z] * heads[k * horizons + z];
      const float p = projection[r * outputs + k];
      d[k] = sum * (1.0f - p * p);
    }
    if (tile.lane == 0) UNROLL for (int k = 0; k < outputs; ++k) d_projected[r * outputs + k] = d[k];
    for (int i : tile.over(hidden)) {
      float sum = 0.0f;
      UNROLL for (int k = 0; k < outputs; ++k) sum += d[k] * projector[i * outputs + k];
      d_state[static_cast<int64_t>(r) * hidden + i] = sum;
    }
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    bce_loss_kernel(const float* __restrict__ logits, const uint8_t* __restrict__ labels, float* __restrict__ loss,
                    float* __restrict__ d_logits, int rows, float scale) {
  for (int r : grid_stride(rows)) {
    float sum = 0.0f;
    UNROLL for (int z = 0; z < horizons; ++z) {
      const int i = r * horizons + z;
      const float x = logits[i], y = static_cast<float>(labels[i]);
      const float e = expf(-fabsf(x)), probability = x < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e);
      if (!masked(labels[i])) sum += fmaxf(x, 0.0f) - x * y + log1pf(e);
      d_logits[i] = masked(labels[i]) ? 0.0f : scale * (probability - y);
    }
    loss[r] = sum;
  }
}

KERNEL void LAUNCH_BOUNDS(1024) reduce_bce_kernel(const float* __restrict__ loss, const uint8_t* __restrict__ labels,
                                                  float* __restrict__ isv, uint32_t* __restrict__ counters, int rows) {
  if (blockIdx.x != 0) return;
  float sum = 0.0f, known = 0.0f;
  for (int r : thread_stride(rows)) {
    sum += loss[r];
    for (int z = 0; z < horizons; ++z) known += masked(labels[r * horizons + z]) ? 0.0f : 1.0f;
  }
  sum = block_sum(sum);
  known = block_sum(known);
  if (threadIdx.x == 0) {
    isv[isv_loss] = known > 0.0f ? sum / known : 0.0f;
    if (!is_finite(sum)) report_nonfinite(counters, nonfinite_loss);
  }
}
