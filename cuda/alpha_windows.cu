// Which snapshots a training step of the alpha model looks at.
#include "cuda/random.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

KERNEL void LAUNCH_BOUNDS(128)
    sample_windows_kernel(const int32_t* __restrict__ rows, const uint32_t* __restrict__ counters,
                          int32_t* __restrict__ starts, int count, int windows, uint64_t seed) {
  for (int w : grid_stride(windows)) {
    const Random4 random = philox(seed, counters[counter_iteration], static_cast<uint32_t>(w), stream_sampling);
    starts[w] = rows[random.below(0, count)];
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    gather_windows_kernel(const float* __restrict__ features, const float* __restrict__ seconds,
                          const uint8_t* __restrict__ labels, const int32_t* __restrict__ starts, float* __restrict__ x,
                          float* __restrict__ dt, uint8_t* __restrict__ y, int rows, int windows, int steps) {
  constexpr int width = snapshot_features;
  const int length = steps + 1;
  for (int i : grid_stride(windows * length * width)) {
    const int at = i / width, column = i % width, window = at / length, s = at % length;
    const int row = starts[window] + s, before = row - 1;
    const bool inside = s < steps && row >= 0 && row < rows;
    x[i] = inside ? features[static_cast<int64_t>(row) * width + column] : 0.0f;
    if (column == 0) dt[at] = inside ? seconds[row] : 0.0f;
    if (column < alpha_horizons) {
      const bool labelled = s > 0 && before >= 0 && before < rows;
      y[at * alpha_horizons + column] =
          labelled ? labels[static_cast<int64_t>(before) * alpha_horizons + column] : no_label;
    }
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    next_windows_kernel(const int32_t* __restrict__ rows, const uint8_t* __restrict__ continues,
                        const uint32_t* __restrict__ counters, const float* __restrict__ state,
                        int32_t* __restrict__ starts, float* __restrict__ initial, int count, int windows, int steps,
                        int hidden) {
  const int64_t next = static_cast<int64_t>(counters[counter_iteration]) + 1;
  for (int i : grid_stride(windows * hidden)) {
    const int w = i / hidden, unit = i % hidden;
    const int64_t place = (static_cast<int64_t>(w) * count / windows + next) % count;
    const float last = state[(static_cast<int64_t>(w) * (steps + 1) + steps) * hidden + unit];
    initial[i] = continues[place] != 0 && is_finite(last) ? last : 0.0f;
    if (unit == 0) starts[w] = rows[place];
  }
}
