#include "cuda/device.cuh"

#include "core/kernels.h"

using namespace foxhunt::cuda;

KERNEL void LAUNCH_BOUNDS(256) dqn_scale_f32_kernel(float* __restrict__ y, const float* __restrict__ alpha, int n) {
  const float a = alpha[0];
  // Zero is exact even from values that a product would turn into NaN: a weight of nothing takes nothing.
  for (int i : grid_stride(n)) y[i] = a == 0.0f ? 0.0f : a * y[i];
}

KERNEL void LAUNCH_BOUNDS(256)
    dqn_saxpy_f32_kernel(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ alpha, int n) {
  const float a = alpha[0];
  for (int i : grid_stride(n)) y[i] += a * x[i];
}
