// Spectral normalisation (Miyato et al. 2018) of a layer's weights W [inputs, outputs]: one power iteration an update
// keeps u (over outputs) and v (over inputs) close to the leading singular pair; sigma = |W^T v|.
#include "cuda/device.cuh"

#include "core/kernels.h"
#include "cuda/layers.cuh"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

/// Scales x [n] to length 1 and returns the length it had; a vector shorter than `floor` is left as it is.
DEVICE float normalise(float* x, int n, float floor) {
  float squares = 0.0f;
  for (int i : thread_stride(n)) squares += x[i] * x[i];
  const float length = sqrtf(block_sum(squares));
  if (length > floor)
    for (int i : thread_stride(n)) x[i] /= length;
  __syncthreads();
  return length;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(1024)
    spectral_sigma_kernel(const float* __restrict__ parameters, const uint32_t* __restrict__ counters,
                          float* __restrict__ left, float* __restrict__ right, float* __restrict__ sigma, int n,
                          int layers_count, int stride, int iterations, float epsilon, LayerTable layers) {
  if (counters[counter_nonfinite] != 0) return;
  constexpr float shortest = 1e-20f;
  const Tile tile;
  for (int l : block_per_item(layers_count)) {
    if (!layers.spectral[l] || layers.offset[l] >= n) {
      if (threadIdx.x == 0) sigma[l] = 1.0f;
      continue;
    }
    const int inputs = layers.inputs[l], outputs = layers.outputs[l];
    const float* w = parameters + layers.offset[l];
    float* u = left + l * stride;
    float* v = right + l * stride;
    float length = 0.0f;
    for (int iteration = 0; iteration < iterations; ++iteration) {
      for (int i = tile.rank(); i < inputs; i += tile.tiles()) {
        float dot = 0.0f;
        for (int j : tile.over(outputs)) dot += w[i * outputs + j] * u[j];
        dot = tile.sum(dot);
        if (tile.lane == 0) v[i] = dot;
      }
      __syncthreads();
      normalise(v, inputs, shortest);
      for (int j : thread_stride(outputs)) {
        float dot = 0.0f;
        for (int i = 0; i < inputs; ++i) dot += w[i * outputs + j] * v[i];
        u[j] = dot;
      }
      __syncthreads();
      length = normalise(u, outputs, shortest);
      // Weights of zero send u to zero, and zero would stay zero for ever: start anew from a fixed direction.
      if (!(length > shortest)) {
        for (int j : thread_stride(outputs)) u[j] = 1.0f / sqrtf(static_cast<float>(outputs));
        __syncthreads();
      }
    }
    if (threadIdx.x == 0) sigma[l] = length < epsilon ? epsilon : length;  // not fmaxf: a NaN must be seen
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    spectral_apply_kernel(const float* __restrict__ parameters, const float* __restrict__ sigma,
                          const uint32_t* __restrict__ counters, float* __restrict__ effective, int n, int layers_count,
                          LayerTable layers) {
  if (counters[counter_nonfinite] != 0) return;
  for (int i : grid_stride(n)) {
    const Place at = locate(layers, i);
    const bool scaled = at.layer >= 0 && at.layer < layers_count && !at.is_bias(layers);
    effective[i] = scaled ? parameters[i] / sigma[at.layer] : parameters[i];
  }
}

KERNEL void LAUNCH_BOUNDS(1024)
    spectral_backward_kernel(float* __restrict__ gradient, const float* __restrict__ effective,
                             const float* __restrict__ left, const float* __restrict__ right,
                             const float* __restrict__ sigma, int n, int layers_count, int stride, float epsilon,
                             LayerTable layers) {
  for (int l : block_per_item(layers_count)) {
    if (!layers.spectral[l] || layers.offset[l] >= n) continue;
    const int outputs = layers.outputs[l], weights = layers.inputs[l] * outputs;
    float* g = gradient + layers.offset[l];
    const float* w = effective + layers.offset[l];
    float inner = 0.0f;
    for (int i : thread_stride(weights)) inner += g[i] * w[i];
    inner = block_sum(inner);
    // At the floor sigma is a constant and has no gradient of its own.
    if (sigma[l] <= epsilon) inner = 0.0f;
    const float* u = left + l * stride;
    const float* v = right + l * stride;
    for (int i : thread_stride(weights)) g[i] = (g[i] - inner * v[i / outputs] * u[i % outputs]) / sigma[l];
  }
}
