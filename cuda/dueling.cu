// Dueling streams (Wang et al. 2016): logits = V + A - mean over actions of A, for every atom.
#include "cuda/device.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

KERNEL void LAUNCH_BOUNDS(128)
    dueling_forward_kernel(const float* __restrict__ raw, float* __restrict__ logits, float* __restrict__ q, int rows,
                           int actions, int atoms, int width, float v_min, float v_max) {
  const Tile tile;
  const float step = (v_max - v_min) / static_cast<float>(atoms - 1);
  for (int r : tile_per_item(rows)) {
    const float* value = raw + static_cast<int64_t>(r) * width;
    const float* advantage = value + atoms;
    float* out = logits + static_cast<int64_t>(r) * actions * atoms;
    for (int z : tile.over(atoms)) {
      float mean = 0.0f;
      for (int a = 0; a < actions; ++a) mean += advantage[a * atoms + z];
      const float centre = value[z] - mean / static_cast<float>(actions);
      for (int a = 0; a < actions; ++a) out[a * atoms + z] = centre + advantage[a * atoms + z];
    }
    // A lane reads back only what it wrote itself: no barrier between the two passes.
    for (int a = 0; a < actions; ++a) {
      float largest = -INFINITY;
      for (int z : tile.over(atoms)) largest = fmaxf(largest, out[a * atoms + z]);
      largest = tile.max(largest);
      float sum = 0.0f, moment = 0.0f;
      for (int z : tile.over(atoms)) {
        const float p = expf(out[a * atoms + z] - largest);
        sum += p;
        moment += p * (v_min + step * static_cast<float>(z));
      }
      sum = tile.sum(sum);
      moment = tile.sum(moment);
      if (tile.lane == 0) q[r * actions + a] = moment / sum;
    }
  }
}

KERNEL void LAUNCH_BOUNDS(128) dueling_backward_kernel(const float* __restrict__ d_logits, float* __restrict__ d_raw,
                                                       int rows, int actions, int atoms, int width) {
  const Tile tile;
  for (int r : tile_per_item(rows)) {
    const float* in = d_logits + static_cast<int64_t>(r) * actions * atoms;
    float* out = d_raw + static_cast<int64_t>(r) * width;
    for (int z : tile.over(atoms)) {
      float sum = 0.0f;
      for (int a = 0; a < actions; ++a) sum += in[a * atoms + z];
      out[z] = sum;
      const float mean = sum / static_cast<float>(actions);
      for (int a = 0; a < actions; ++a) out[(a + 1) * atoms + z] = in[a * atoms + z] - mean;
    }
    for (int i : tile.over(width - (actions + 1) * atoms)) out[(actions + 1) * atoms + i] = 0.0f;
  }
}
