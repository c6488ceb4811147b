// Prioritised replay (Schaul et al. 2016) over a time-major ring: leaf = time slot * episodes + episode. Sums are
// recomputed from the leaves before every draw, so nothing drifts.
#include "cuda/guard.cuh"
#include "cuda/random.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

constexpr int fan_out = 32;
constexpr int chunk_leaves = fan_out * fan_out;
constexpr int super_leaves = fan_out * chunk_leaves;

/// First i with x[0] + ... + x[i] > target and x[i] > 0; where rounding leaves none, the last i with x[i] > 0; -1 when
/// nothing is positive. A zero is never picked.
DEVICE int pick_by_prefix(const Tile& tile, const float* x, int n, float target) {
  float before = 0.0f;
  int last_positive = -1;
  for (int base = 0; base < n; base += Tile::width) {
    const int i = base + tile.lane;
    const float v = i < n ? x[i] : 0.0f;
    const float prefix = before + tile.inclusive_sum(v);
    const int hit = tile.first(v > 0.0f && prefix > target);
    if (hit >= 0) return base + hit;
    const int last = tile.last(v > 0.0f);
    if (last >= 0) last_positive = base + last;
    before = tile.broadcast(prefix, Tile::width - 1);
  }
  return last_positive;
}

DEVICE int within(int first, int span, int n) { return first + span < n ? span : n - first; }

}  // namespace

KERNEL void LAUNCH_BOUNDS(1024)
    sum_priorities_kernel(const float* __restrict__ priority, float* __restrict__ groups, float* __restrict__ chunks,
                          float* __restrict__ supers, uint32_t* __restrict__ counters, int leaves) {
  SHARED_ARRAY(float, chunk_sum, fan_out);
  const Tile tile;
  const int chunk_count = (leaves + chunk_leaves - 1) / chunk_leaves;
  for (int super : block_per_item((leaves + super_leaves - 1) / super_leaves)) {
    for (int c = tile.rank(); c < fan_out; c += tile.tiles()) {
      const int chunk = super * fan_out + c;
      float sum = 0.0f;
      if (chunk < chunk_count) {
        // All loads of the chunk are on their way before the first is used.
        float v[fan_out];
        UNROLL for (int g = 0; g < fan_out; ++g) {
          v[g] = 0.0f;
          UNROLL for (int i = 0; i < fan_out / Tile::width; ++i) {
            const int leaf = chunk * chunk_leaves + g * fan_out + i * Tile::width + tile.lane;
            v[g] += leaf < leaves ? priority[leaf] : 0.0f;
          }
        }
        UNROLL for (int g = 0; g < fan_out; ++g) {
          v[g] = tile.sum(v[g]);
          if (tile.lane == 0 && chunk * chunk_leaves + g * fan_out < leaves) groups[chunk * fan_out + g] = v[g];
          sum += v[g];
        }
        if (tile.lane == 0) chunks[chunk] = sum;
      }
      if (tile.lane == 0) chunk_sum[c] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      float sum = 0.0f;
      for (float v : chunk_sum) sum += v;
      supers[super] = sum;
      if (!is_finite(sum)) report_nonfinite(counters, nonfinite_priority);
    }
    __syncthreads();
  }
}

KERNEL void LAUNCH_BOUNDS(128)
    sample_transitions_kernel(const float* __restrict__ priority, const float* __restrict__ groups,
                              const float* __restrict__ chunks, const float* __restrict__ supers,
                              const float* __restrict__ reward, const int32_t* __restrict__ actions,
                              const uint8_t* __restrict__ flags, uint32_t* __restrict__ counters,
                              int32_t* __restrict__ index, int32_t* __restrict__ next, int32_t* __restrict__ action,
                              float* __restrict__ returns, float* __restrict__ discounts,
                              float* __restrict__ priorities, int batch, int episodes, int length, int n_step,
                              float gamma, uint64_t seed) {
  const Tile tile;
  const int leaves = episodes * length;
  const int super_count = (leaves + super_leaves - 1) / super_leaves;
  const int chunk_count = (leaves + chunk_leaves - 1) / chunk_leaves;
  const int group_count = (leaves + fan_out - 1) / fan_out;
  float total = 0.0f;
  for (int s = 0; s < super_count; ++s) total += supers[s];
  for (int b : tile_per_item(batch)) {
    const Random4 random = philox(seed, counters[counter_iteration], static_cast<uint32_t>(b), stream_sampling);
    const float stratum = (static_cast<float>(b) + random.uniform(0)) / static_cast<float>(batch);
    int leaf = pick_by_prefix(tile, supers, super_count, stratum * total);
    if (leaf >= 0) {
      const int chunk = leaf * fan_out;
      leaf = chunk + pick_by_prefix(tile, chunks + chunk, within(chunk, fan_out, chunk_count),
                                    random.uniform(1) * supers[leaf]);
      const int group = leaf * fan_out;
      leaf = group + pick_by_prefix(tile, groups + group, within(group, fan_out, group_count),
                                    random.uniform(2) * chunks[leaf]);
      const int first = leaf * fan_out;
      leaf = first +
             pick_by_prefix(tile, priority + first, within(first, fan_out, leaves), random.uniform(3) * groups[leaf]);
    }
    if (tile.lane != 0) continue;
    if (leaf < 0) {  // nothing to draw yet: a harmless transition; the iteration does not learn
      index[b] = next[b] = action[b] = 0;
      returns[b] = discounts[b] = priorities[b] = 0.0f;
      continue;
    }
    // The window was complete when the leaf got its priority, so it ends at the write head at the latest.
    float sum = 0.0f, discount = 1.0f;
    int slot = leaf / episodes;
    const int episode = leaf % episodes;
    for (int step = 0; step < n_step; ++step) {
      const int at = slot * episodes + episode;
      sum += discount * reward[at];
      discount *= gamma;
      slot = slot + 1 == length ? 0 : slot + 1;
      if (flags[at] & transition_terminal) discount = 0.0f;
      if (flags[at] & (transition_terminal | transition_truncated)) break;
    }
    index[b] = leaf;
    next[b] = slot * episodes + episode;
    action[b] = actions[leaf];
    returns[b] = sum;
    discounts[b] = discount;
    priorities[b] = priority[leaf];
    atomicMin(&counters[counter_min_priority], __float_as_uint(priority[leaf]));
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    update_priorities_kernel(const int32_t* __restrict__ index, const float* __restrict__ td_error,
                             float* __restrict__ priority, uint32_t* __restrict__ counters, int batch, int episodes,
                             int length, int leaves, float alpha, float epsilon) {
  if (!update_allowed(counters)) return;
  const int overwritten = static_cast<int>((counters[counter_iteration] + 1) % static_cast<uint32_t>(length));
  for (int b : grid_stride(batch)) {
    const int leaf = index[b];
    if (leaf >= leaves || leaf / episodes == overwritten) continue;
    const float updated = powf(td_error[b] + epsilon, alpha);
    // A transition drawn twice has one loss and gets the same value twice; the exchange only makes that well defined.
    atomicExch(reinterpret_cast<unsigned*>(&priority[leaf]), __float_as_uint(updated));
    atomicMax(&counters[counter_max_priority], __float_as_uint(updated));
  }
}
