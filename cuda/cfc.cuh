#pragma once
// The continuous-time cell itself, for the scan over windows and for the live path: a thread keeps its columns of W_rec
// in registers.
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

inline constexpr int cfc_threads = max_hidden;
using Row = float[max_hidden];
using Columns = OwnedItems<max_hidden, cfc_threads>;
inline constexpr int owned = Columns::count;

/// What stays of the old state after `seconds` and what the candidate brings: e^(-dt/tau) and its complement, of which
/// the complement keeps its digits when it is small. They add up to one, so |h'| <= max(|h|, 1). rate: 1/tau, once for
/// all steps instead of a division in each.
struct Mix {
  float keep, take;
  DEVICE Mix(float seconds, float rate) : take(-expm1f(-fmaxf(seconds, 0.0f) * rate)) { keep = 1.0f - take; }
};

DEVICE float softplus(float x) { return x > 20.0f ? x : log1pf(expf(x)); }
DEVICE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/// h' of one cell: `drive` = W_in x + b, `recurrence` = W_rec h.
DEVICE float step_cell(float h, float drive, float recurrence, const Mix& mix) {
  return h * mix.keep + mix.take * tanhf(drive + recurrence);
}

/// 1/tau of a cell, tau = tau_min + softplus(theta).
DEVICE float rate_of(float theta, float tau_min) { return 1.0f / (tau_min + softplus(theta)); }
/// Of this thread's columns.
DEVICE void rates_of(const float* theta, int hidden, float tau_min, float (&rate)[owned]) {
  UNROLL for (int o = 0; o < owned; ++o) rate[o] =
      Columns::item(o) < hidden ? rate_of(theta[Columns::item(o)], tau_min) : 1.0f;
}

/// rows[i][o] = row first + i of what is served, column o of this thread's.
template <int count>
DEVICE void load_rows(const ServedWeights& served, int first, float (&rows)[count][owned]) {
  UNROLL_ALL for (int i = 0; i < count; i += 4) UNROLL for (int o = 0; o < owned; ++o) {
    const int j = Columns::item(o);
    float4 v{};
    if (Columns::exists(j)) v = *reinterpret_cast<const float4*>(served.column[(first + i) / 4][j]);
    rows[i][o] = v.x, rows[i + 1][o] = v.y, rows[i + 2][o] = v.z, rows[i + 3][o] = v.w;
  }
}

/// The part of W_rec that this thread multiplies by, zero beyond `hidden`: weight[i][o] = W[i, column o] or, for the
/// way back, W[column o, i].
struct Weights {
  float value[max_hidden][owned];
  DEVICE Weights(const float* recurrent, int hidden, bool transposed) {
    UNROLL_ALL for (int i = 0; i < max_hidden; ++i) UNROLL for (int o = 0; o < owned; ++o) {
      const int j = Columns::item(o);
      value[i][o] = i < hidden && j < hidden ? recurrent[transposed ? j * hidden + i : i * hidden + j] : 0.0f;
    }
  }
  DEVICE explicit Weights(const ServedWeights& served) { load_rows(served, ServedWeights::recurrent, value); }
};

/// sum[w][o] = sum over i of x[w][i] * weight[i][o], in four parts, or one window's additions would wait for each
/// other. x in shared memory, zero beyond `hidden`.
template <int windows>
DEVICE void multiply(const Row (&x)[windows], const Weights& weight, float (&sum)[windows][owned]) {
  float4 part[windows][owned] = {};
  UNROLL_ALL for (int i = 0; i < max_hidden; i += 4) UNROLL for (int w = 0; w < windows; ++w) {
    const float4 v = *reinterpret_cast<const float4*>(&x[w][i]);
    UNROLL for (int o = 0; o < owned; ++o) {
      part[w][o].x += v.x * weight.value[i][o];
      part[w][o].y += v.y * weight.value[i + 1][o];
      part[w][o].z += v.z * weight.value[i + 2][o];
      part[w][o].w += v.w * weight.value[i + 3][o];
    }
  }
  UNROLL for (int w = 0; w < windows; ++w) UNROLL for (int o = 0; o < owned; ++o) {
    const float4& p = part[w][o];
    sum[w][o] = (p.x + p.y) + (p.z + p.w);
  }
}

}  // namespace foxhunt::cuda
