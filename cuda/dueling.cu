// Dueling streams (Wang et al. 2016): logits = V + A - mean over actions of A, for every atom.
#include "cuda/softmax.cuh"

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
    TileVector<max_atoms> centre;
    centre.for_each(tile, atoms, [&](int z, float& c) {
      float mean = 0.0f;
      for (int a = 0; a < actions; ++a) mean += advantage[a * atoms + z];
      c = value[z] - mean / static_cast<float>(actions);
    });
    for (int a = 0; a < actions; ++a) {
      TileVector<max_atoms> logit = centre;
      logit.for_each(tile, atoms, [&](int z, float& x) { out[a * atoms + z] = x += advantage[a * atoms + z]; });
      Softmax softmax(tile, atoms, logit);
      float mean = 0.0f;
      softmax.for_each(tile, atoms, [&](int z, float p) { mean += p * (v_min + step * static_cast<float>(z)); });
      mean = tile.sum(mean);
      if (tile.lane == 0) q[r * actions + a] = mean;
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
