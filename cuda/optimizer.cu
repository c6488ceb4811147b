// AdamW with a global-norm clip, refused as a whole when anything non-finite was met, and the target network.
#include "cuda/device.cuh"

#include "core/kernels.h"
#include "cuda/guard.cuh"
#include "cuda/layers.cuh"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {
constexpr int norm_run = 1024;
constexpr float largest_float = 3.402823466e38f;
/// A weight beyond this is refused like one that is not finite: sums of products of such weights leave float32.
constexpr float largest_parameter = 1e15f;
/// No gradient whose square is finite can bring a first moment beyond this.
constexpr float largest_moment = 2e19f;
}  // namespace

KERNEL void LAUNCH_BOUNDS(256)
    gradient_norm_kernel(const float* __restrict__ gradient, const float* __restrict__ parameters,
                         const float* __restrict__ moment1, const float* __restrict__ moment2,
                         const float* __restrict__ isv, float* __restrict__ norm, uint32_t* __restrict__ counters,
                         int n) {
  const int runs = (n + norm_run - 1) / norm_run;
  for (int run : block_per_item(runs)) {
    float squares = 0.0f;
    const int first = run * norm_run;
    for (int j : thread_stride(first + norm_run < n ? norm_run : n - first)) {
      const int i = first + j;
      squares += gradient[i] * gradient[i];
      if (!(fabsf(parameters[i]) <= largest_parameter)) report_nonfinite(counters, nonfinite_parameter);
      const bool sound = fabsf(moment1[i]) <= largest_moment && moment2[i] >= 0.0f && moment2[i] <= largest_float;
      if (!sound) report_nonfinite(counters, nonfinite_moment);
    }
    squares = block_sum(squares);
    if (threadIdx.x == 0) {
      norm[run] = squares;
      // Not finite when a gradient is not, or when its square overflows; so large that the sum over the runs would
      // overflow counts too. None of them may reach the moments.
      const bool summable = squares <= largest_float / static_cast<float>(runs);
      if (counters[counter_learning] && !summable) report_nonfinite(counters, nonfinite_gradient);
      if (run == 0 && !is_finite(isv[isv_learning_rate])) report_nonfinite(counters, nonfinite_learning_rate);
    }
  }
}

KERNEL void LAUNCH_BOUNDS(256) adamw_kernel(float* __restrict__ parameters, float* __restrict__ moment1,
                                            float* __restrict__ moment2, const float* __restrict__ gradient,
                                            const float* __restrict__ norm, const uint32_t* __restrict__ counters,
                                            float* __restrict__ isv, int n, LayerTable layers, AdamParams params) {
  if (!update_allowed(counters)) return;
  float squares = 0.0f;
  for (int i : thread_stride((n + norm_run - 1) / norm_run)) squares += norm[i];
  const float length = sqrtf(block_sum(squares));
  if (blockIdx.x == 0 && threadIdx.x == 0) isv[isv_gradient_norm] = length;
  const float clip =
      params.max_grad_norm > 0.0f && length > params.max_grad_norm ? params.max_grad_norm / length : 1.0f;
  const float t = static_cast<float>(counters[counter_updates] + 1);
  const float correction1 = 1.0f - powf(params.beta1, t), correction2 = 1.0f - powf(params.beta2, t);
  const float rate = isv[isv_learning_rate];
  for (int i : grid_stride(n)) {
    const float g = gradient[i] * clip;
    const float m = params.beta1 * moment1[i] + (1.0f - params.beta1) * g;
    const float v = params.beta2 * moment2[i] + (1.0f - params.beta2) * g * g;
    const float step = m / correction1 / (sqrtf(v / correction2) + params.epsilon);
    const float decay = locate(layers, i).is_bias(layers) ? 0.0f : params.weight_decay;
    moment1[i] = m;
    moment2[i] = v;
    parameters[i] -= rate * (step + decay * parameters[i]);
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    update_target_kernel(float* __restrict__ target, const float* __restrict__ online,
                         const uint32_t* __restrict__ counters, int n, float tau, int period) {
  if (!update_allowed(counters)) return;
  const bool due = period > 0 && (counters[counter_updates] + 1) % static_cast<uint32_t>(period) == 0;
  if (period > 0 && !due) return;
  const bool copy = due || tau >= 1.0f;
  // Weighted, not target + tau * (online - target): of two large weights of different sign that difference overflows.
  for (int i : grid_stride(n)) target[i] = copy ? online[i] : fmaf(tau, online[i], fmaf(-tau, target[i], target[i]));
}
