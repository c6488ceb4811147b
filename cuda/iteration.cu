// The two ends of a training iteration: schedules and counters in, statistics and the host's health word out.
#include "cuda/device.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

DEVICE float ramp(float from, float to, uint32_t step, int steps) {
  if (step >= static_cast<uint32_t>(steps)) return to;
  return from + (to - from) * static_cast<float>(step) / static_cast<float>(steps);
}

DEVICE float learning_rate(const ScheduleParams& p, uint32_t step) {
  const float warm = step < static_cast<uint32_t>(p.warmup_iterations)
                         ? static_cast<float>(step + 1) / static_cast<float>(p.warmup_iterations)
                         : 1.0f;
  const float progress =
      p.total_iterations > 0 ? fminf(1.0f, static_cast<float>(step) / static_cast<float>(p.total_iterations)) : 0.0f;
  float shape = 1.0f;
  if (p.decay == 1) shape = 1.0f - (1.0f - p.final_fraction) * progress;
  if (p.decay == 2) shape = p.final_fraction + (1.0f - p.final_fraction) * 0.5f * (1.0f + cosf(3.14159265f * progress));
  return p.learning_rate * warm * shape;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(32) begin_iteration_kernel(float* __restrict__ isv, uint32_t* __restrict__ counters,
                                                     int episodes, int length, int n_step, ScheduleParams params) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const uint32_t step = counters[counter_iteration];
  isv[isv_step] = static_cast<float>(step);
  isv[isv_epsilon] = ramp(params.epsilon_start, params.epsilon_end, step, params.epsilon_iterations);
  isv[isv_beta] = ramp(params.beta_start, params.beta_end, step, params.beta_iterations);
  isv[isv_learning_rate] = learning_rate(params, step);
  isv[isv_c51_weight] = params.c51_weight;
  isv[isv_mse_weight] = 1.0f - params.c51_weight;
  isv[isv_cql_weight] = params.cql_weight;
  const int64_t kept = step < static_cast<uint32_t>(length) ? step : static_cast<uint32_t>(length);
  counters[counter_learning] = step >= static_cast<uint32_t>(n_step) && kept * episodes >= params.min_replay_size;
  counters[counter_nonfinite] = 0;
  counters[counter_nonfinite_mask] = 0;
  counters[counter_min_priority] = __float_as_uint(INFINITY);
  for (int a = 0; a < max_actions; ++a) counters[counter_first_action + a] = 0;
}

KERNEL void LAUNCH_BOUNDS(1024)
    end_iteration_kernel(const float* __restrict__ reward, float* __restrict__ isv, uint32_t* __restrict__ counters,
                         uint32_t* __restrict__ health, int episodes, int length) {
  if (blockIdx.x != 0) return;
  const uint32_t step = counters[counter_iteration];
  const int first = static_cast<int>(step % static_cast<uint32_t>(length)) * episodes;
  float sum = 0.0f;
  for (int e : thread_stride(episodes)) sum += reward[first + e];
  sum = block_sum(sum);
  float entropy = 0.0f;
  for (int a : thread_stride(max_actions)) {
    const float share = static_cast<float>(counters[counter_first_action + a]) / static_cast<float>(episodes);
    if (share > 0.0f) entropy -= share * logf(share);
  }
  entropy = block_sum(entropy);
  if (threadIdx.x == 0) {
    isv[isv_reward_mean] = sum / static_cast<float>(episodes);
    isv[isv_action_entropy] = entropy;
    isv[isv_nonfinite_count] = static_cast<float>(counters[counter_nonfinite]);
    if (counters[counter_nonfinite] != 0) {
      if (counters[counter_trips]++ == 0) {
        counters[counter_trip_mask] = counters[counter_nonfinite_mask];
        counters[counter_trip_iteration] = step;
      }
    } else if (counters[counter_learning]) {
      ++counters[counter_updates];
    }
    counters[counter_iteration] = step + 1;
  }
  __syncthreads();
  for (int i : thread_stride(isv_slot_count)) health[i] = __float_as_uint(isv[i]);
  for (int i : thread_stride(counter_count)) health[isv_slot_count + i] = counters[i];
}
