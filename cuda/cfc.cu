// A closed-form continuous-time cell and its scan over windows. W_rec stays on the chip for a whole window: a thread
// keeps its column (backward: its row) in registers, and four windows share it.
#include "cuda/cfc.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

constexpr int group = 4;  // windows of a block

DEVICE int64_t at(int window, int rows, int row, int hidden, int j) {
  return (static_cast<int64_t>(window) * rows + row) * hidden + j;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(cfc_threads, 1)
    cfc_step_kernel(const float* __restrict__ drive, const float* __restrict__ seconds,
                    const float* __restrict__ recurrent, const float* __restrict__ state, float* __restrict__ next,
                    int rows, int hidden, float tau_min) {
  SHARED_ARRAY(Row, h, 1);
  const Weights weight(recurrent, hidden, false);
  const float* theta = recurrent + hidden * hidden;
  for (int r : block_per_item(rows)) {
    for (int j : thread_stride(max_hidden)) h[0][j] = j < hidden ? state[r * hidden + j] : 0.0f;
    __syncthreads();
    float sum[1][owned];
    multiply(h, weight, sum);
    UNROLL for (int o = 0; o < owned; ++o) {
      const int j = Columns::item(o);
      if (j >= hidden) break;
      next[r * hidden + j] =
          step_cell(h[0][j], drive[r * hidden + j], sum[0][o], Mix(seconds[r], rate_of(theta[j], tau_min)));
    }
    __syncthreads();
  }
}

KERNEL void LAUNCH_BOUNDS(cfc_threads, 1)
    cfc_scan_forward_kernel(const float* __restrict__ drive, const float* __restrict__ seconds,
                            const float* __restrict__ recurrent, const float* __restrict__ initial,
                            float* __restrict__ state, float* __restrict__ candidate, int windows, int steps,
                            int hidden, float tau_min) {
  SHARED_ARRAY(Row, h, group);
  const Weights weight(recurrent, hidden, false);
  const float* theta = recurrent + hidden * hidden;
  float rate[owned];
  rates_of(theta, hidden, tau_min, rate);
  const int rows = steps + 1;
  for (int item : block_per_item((windows + group - 1) / group)) {
    const int first = item * group, count = windows - first;  // of those left, the block's are the first
    for (int w = 0; w < group; ++w)
      for (int j : thread_stride(max_hidden)) {
        h[w][j] = w < count && j < hidden ? initial[(first + w) * hidden + j] : 0.0f;
        if (w >= count || j >= hidden) continue;
        state[at(first + w, rows, 0, hidden, j)] = h[w][j];
        candidate[at(first + w, rows, steps, hidden, j)] = 0.0f;
      }
    for (int s = 0; s < steps; ++s) {
      // On their way from memory while the product is made. A window that is not there reads the first one's.
      float x[group][owned], dt[group];
      UNROLL for (int w = 0; w < group; ++w) {
        const int window = w < count ? first + w : first;
        dt[w] = seconds[window * rows + s];
        UNROLL for (int o = 0; o < owned; ++o) {
          const int j = Columns::item(o);
          x[w][o] = j < hidden ? drive[at(window, rows, s, hidden, j)] : 0.0f;
        }
      }
      __syncthreads();
      float sum[group][owned];
      multiply(h, weight, sum);
      __syncthreads();
      UNROLL for (int o = 0; o < owned; ++o) {
        const int j = Columns::item(o);
        if (j >= hidden) break;
        UNROLL for (int w = 0; w < group; ++w) {
          const Mix mix(dt[w], rate[o]);
          const float c = tanhf(x[w][o] + sum[w][o]);
          const float next = h[w][j] * mix.keep + mix.take * c;
          h[w][j] = next;
          if (w >= count) continue;
          const int64_t here = at(first + w, rows, s, hidden, j);
          candidate[here] = c;
          state[here + hidden] = next;
        }
      }
    }
    __syncthreads();
  }
}

KERNEL void LAUNCH_BOUNDS(cfc_threads, 1)
    cfc_scan_backward_kernel(const float* __restrict__ d_state, const float* __restrict__ state,
                             const float* __restrict__ candidate, const float* __restrict__ seconds,
                             const float* __restrict__ recurrent, float* __restrict__ d_drive,
                             float* __restrict__ d_theta, int windows, int steps, int hidden, float tau_min) {
  SHARED_ARRAY(Row, d_inside, group);  // of the tanh's argument
  const Weights weight(recurrent, hidden, true);
  const float* theta = recurrent + hidden * hidden;
  float rate[owned];
  rates_of(theta, hidden, tau_min, rate);
  const int rows = steps + 1;
  for (int item : block_per_item((windows + group - 1) / group)) {
    const int first = item * group, count = windows - first;  // of those left, the block's are the first
    for (int w = 0; w < group; ++w)
      for (int j : thread_stride(max_hidden)) {
        d_inside[w][j] = 0.0f;
        if (w < count && j < hidden) d_drive[at(first + w, rows, steps, hidden, j)] = 0.0f;
      }
    float carried[group][owned] = {}, theta_sum[owned] = {};
    for (int s = steps - 1; s >= 0; --s) {
      __syncthreads();
      UNROLL for (int o = 0; o < owned; ++o) {
        const int j = Columns::item(o);
        if (j >= hidden) break;
        float c[group], before[group], wanted[group], dt[group];
        UNROLL for (int w = 0; w < group; ++w) {  // all loads before the first use
          const int window = w < count ? first + w : first;
          const int64_t here = at(window, rows, s, hidden, j);
          dt[w] = fmaxf(seconds[window * rows + s], 0.0f);
          c[w] = candidate[here], before[w] = state[here], wanted[w] = d_state[here + hidden];
        }
        UNROLL for (int w = 0; w < group; ++w) {
          if (w >= count) continue;
          const Mix mix(dt[w], rate[o]);
          const float d_next = carried[w][o] + wanted[w];
          const float d_keep = d_next * (before[w] - c[w]), d_in = d_next * mix.take * (1.0f - c[w] * c[w]);
          theta_sum[o] += d_keep * mix.keep * dt[w] * rate[o] * rate[o] * sigmoid(theta[j]);
          d_inside[w][j] = d_in;
          d_drive[at(first + w, rows, s, hidden, j)] = d_in;
          carried[w][o] = d_next * mix.keep;
        }
      }
      __syncthreads();
      float sum[group][owned];
      multiply(d_inside, weight, sum);
      for (int w = 0; w < group; ++w) UNROLL for (int o = 0; o < owned; ++o) carried[w][o] += sum[w][o];
    }
    UNROLL for (int o = 0; o < owned; ++o) if (Columns::item(o) < hidden) d_theta[item * hidden + Columns::item(o)] =
        theta_sum[o];
    __syncthreads();
  }
}
