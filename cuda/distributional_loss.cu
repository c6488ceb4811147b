// C51 (Bellemare et al. 2017) with double selection, its blend with an expected-value loss, and the conservative term.
#include "cuda/guard.cuh"
#include "cuda/softmax.cuh"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

constexpr int loss_threads = 128;

/// Support of the value distribution: atom z stands for v_min + step * z.
struct Support {
  float v_min, v_max, step;
  DEVICE Support(float low, float high, int atoms)
      : v_min(low), v_max(high), step((high - low) / static_cast<float>(atoms - 1)) {}
  DEVICE float value(int z) const { return v_min + step * static_cast<float>(z); }
};

DEVICE int first_maximum(const float* q, int actions) {
  int best = 0;
  for (int a = 1; a < actions; ++a)
    if (q[a] > q[best]) best = a;
  return best;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(loss_threads)
    project_target_kernel(const float* __restrict__ next_q, const float* __restrict__ next_logits,
                          const float* __restrict__ returns, const float* __restrict__ discounts,
                          const float* __restrict__ priorities, const float* __restrict__ isv,
                          uint32_t* __restrict__ counters, float* __restrict__ target, float* __restrict__ target_mean,
                          float* __restrict__ weight, int batch, int actions, int atoms, float v_min, float v_max) {
  SHARED_ARRAY(float, probability, tiles_in(loss_threads) * max_atoms);
  SHARED_ARRAY(float, position, tiles_in(loss_threads) * max_atoms);
  const Tile tile;
  const Support support(v_min, v_max, atoms);
  float* const p = probability + tile.rank() * max_atoms;
  float* const b = position + tile.rank() * max_atoms;
  for (int i : tile_per_item(batch)) {
    const int chosen = first_maximum(next_q + i * actions, actions);
    const float* logits = next_logits + (static_cast<int64_t>(i) * actions + chosen) * atoms;
    Softmax softmax(tile, atoms, logits);
    const float reward = returns[i], discount = discounts[i];
    softmax.for_each(tile, atoms, [&](int z, float mass) {
      const float moved = fminf(fmaxf(reward + discount * support.value(z), v_min), v_max);
      p[z] = mass;
      b[z] = fminf((moved - v_min) / support.step, static_cast<float>(atoms - 1));
    });
    tile.sync();
    float mean = 0.0f;
    for (int j : tile.over(atoms)) {
      float mass = 0.0f;
      for (int z = 0; z < atoms; ++z) mass += p[z] * fmaxf(0.0f, 1.0f - fabsf(b[z] - static_cast<float>(j)));
      target[static_cast<int64_t>(i) * atoms + j] = mass;
      mean += mass * support.value(j);
    }
    mean = tile.sum(mean);
    if (tile.lane == 0) {
      const bool learning = counters[counter_learning] != 0;
      target_mean[i] = mean;
      weight[i] =
          learning ? powf(__uint_as_float(counters[counter_min_priority]) / priorities[i], isv[isv_beta]) : 0.0f;
      if (learning && !(is_finite(reward) && is_finite(discount))) report_nonfinite(counters, nonfinite_return);
      if (learning && !is_finite(mean)) report_nonfinite(counters, nonfinite_target);
      if (!is_finite(weight[i])) report_nonfinite(counters, nonfinite_priority);
    }
    tile.sync();
  }
}

KERNEL void LAUNCH_BOUNDS(loss_threads)
    c51_loss_kernel(const float* __restrict__ logits, const int32_t* __restrict__ action,
                    const float* __restrict__ target, const float* __restrict__ weight, float* __restrict__ loss,
                    float* __restrict__ d_logits, int batch, int actions, int atoms) {
  const Tile tile;
  for (int i : tile_per_item(batch)) {
    const int64_t first = static_cast<int64_t>(i) * actions * atoms;
    const float* taken = logits + first + action[i] * atoms;
    const float* wanted = target + static_cast<int64_t>(i) * atoms;
    Softmax softmax(tile, atoms, taken);
    float cross_entropy = 0.0f, mass = 0.0f;
    for (int z : tile.over(atoms)) {
      cross_entropy -= wanted[z] * softmax.log_probability(taken[z]);
      mass += wanted[z];
    }
    cross_entropy = tile.sum(cross_entropy);
    mass = tile.sum(mass);
    if (tile.lane == 0) loss[i] = cross_entropy;
    const float scale = weight[i] / static_cast<float>(batch);
    softmax.for_each(tile, atoms, [&](int z, float p) {
      for (int a = 0; a < actions; ++a)
        d_logits[first + a * atoms + z] = a == action[i] ? scale * (mass * p - wanted[z]) : 0.0f;
    });
  }
}

KERNEL void LAUNCH_BOUNDS(loss_threads)
    mse_loss_kernel(const float* __restrict__ logits, const float* __restrict__ q, const int32_t* __restrict__ action,
                    const float* __restrict__ target_mean, const float* __restrict__ weight, float* __restrict__ loss,
                    float* __restrict__ d_logits, int batch, int actions, int atoms, float v_min, float v_max) {
  const Tile tile;
  const Support support(v_min, v_max, atoms);
  for (int i : tile_per_item(batch)) {
    const int64_t first = static_cast<int64_t>(i) * actions * atoms;
    const float* taken = logits + first + action[i] * atoms;
    const float value = q[i * actions + action[i]];
    const float error = value - target_mean[i];
    if (tile.lane == 0) loss[i] = 0.5f * error * error;
    Softmax softmax(tile, atoms, taken);
    const float scale = error * weight[i] / static_cast<float>(batch);
    softmax.for_each(tile, atoms, [&](int z, float p) {
      for (int a = 0; a < actions; ++a)
        d_logits[first + a * atoms + z] = a == action[i] ? scale * p * (support.value(z) - value) : 0.0f;
    });
  }
}

KERNEL void LAUNCH_BOUNDS(loss_threads)
    cql_loss_kernel(const float* __restrict__ logits, const float* __restrict__ q, const int32_t* __restrict__ action,
                    const float* __restrict__ weight, const float* __restrict__ isv, float* __restrict__ loss,
                    float* __restrict__ d_logits, int batch, int actions, int atoms, float v_min, float v_max) {
  const Tile tile;
  const Support support(v_min, v_max, atoms);
  for (int i : tile_per_item(batch)) {
    const float* values = q + i * actions;
    const float largest = values[first_maximum(values, actions)];
    float sum = 0.0f;
    for (int a = 0; a < actions; ++a) sum += expf(values[a] - largest);
    if (tile.lane == 0) loss[i] = largest + logf(sum) - values[action[i]];
    const float scale = isv[isv_cql_weight] * weight[i] / static_cast<float>(batch);
    for (int a = 0; a < actions; ++a) {
      const int64_t first = (static_cast<int64_t>(i) * actions + a) * atoms;
      Softmax softmax(tile, atoms, logits + first);
      const float d_q = scale * (expf(values[a] - largest) / sum - (a == action[i] ? 1.0f : 0.0f));
      softmax.for_each(tile, atoms,
                       [&](int z, float p) { d_logits[first + z] += d_q * p * (support.value(z) - values[a]); });
    }
  }
}

KERNEL void LAUNCH_BOUNDS(1024)
    reduce_losses_kernel(const float* __restrict__ c51, const float* __restrict__ mse, const float* __restrict__ cql,
                         const float* __restrict__ weight, const float* __restrict__ q,
                         const int32_t* __restrict__ action, const float* __restrict__ target_mean,
                         float* __restrict__ td_error, float* __restrict__ isv, uint32_t* __restrict__ counters,
                         int batch, int actions) {
  if (blockIdx.x != 0 || counters[counter_learning] == 0) return;
  const float alpha = isv[isv_c51_weight], beta = isv[isv_mse_weight], cql_weight = isv[isv_cql_weight];
  float total = 0.0f, c51_sum = 0.0f, mse_sum = 0.0f, cql_sum = 0.0f, td_sum = 0.0f, q_sum = 0.0f, q_max = -INFINITY;
  for (int i : thread_stride(batch)) {
    const float blended = alpha * c51[i] + beta * mse[i];
    td_error[i] = fabsf(blended);
    if (!is_finite(blended) || !is_finite(cql[i])) report_nonfinite(counters, nonfinite_loss);
    total += weight[i] * (blended + cql_weight * cql[i]);
    c51_sum += c51[i];
    mse_sum += mse[i];
    cql_sum += cql[i];
    td_sum += fabsf(q[i * actions + action[i]] - target_mean[i]);
  }
  UNROLL_16 for (int i : thread_stride(batch * actions)) {
    q_sum += q[i];
    q_max = fmaxf(q_max, q[i]);
  }
  const float share = 1.0f / static_cast<float>(batch);
  total = block_sum(total) * share;
  c51_sum = block_sum(c51_sum) * share;
  mse_sum = block_sum(mse_sum) * share;
  cql_sum = block_sum(cql_sum) * share;
  td_sum = block_sum(td_sum) * share;
  q_sum = block_sum(q_sum) * share / static_cast<float>(actions);
  q_max = block_max(q_max);
  if (threadIdx.x == 0) {
    isv[isv_loss] = total;
    isv[isv_c51_loss] = c51_sum;
    isv[isv_mse_loss] = mse_sum;
    isv[isv_cql_loss] = cql_sum;
    isv[isv_td_error_mean] = td_sum;
    isv[isv_q_mean] = q_sum;
    isv[isv_q_max] = q_max;
  }
}
