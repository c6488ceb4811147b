// A dense layer y = act(x W + b) and its two gradients. Parameters are one matrix [k + 1, n] whose last row is b.
#include "cuda/block_matmul.cuh"

#include "core/kernels.h"

using namespace foxhunt::cuda;

namespace {

/// Stores eight neighbouring results where the matrix has them; 16 bytes at a time where that is aligned.
DEVICE void store_row(float* matrix, int rows, int columns, int row, int column, const float (&v)[micro]) {
  if (row >= rows || column >= columns) return;
  float* to = matrix + static_cast<int64_t>(row) * columns + column;
  if (column + micro <= columns && (reinterpret_cast<uintptr_t>(to) & 15u) == 0) {
    reinterpret_cast<float4*>(to)[0] = {v[0], v[1], v[2], v[3]};
    reinterpret_cast<float4*>(to)[1] = {v[4], v[5], v[6], v[7]};
  } else {
    for (int j = 0; j < micro && column + j < columns; ++j) to[j] = v[j];
  }
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(matmul_threads)
    dense_forward_kernel(const float* __restrict__ x, const float* __restrict__ parameters, float* __restrict__ y,
                         int m, int n, int k, int relu) {
  const float* bias = parameters + static_cast<int64_t>(k) * n;
  const int row_tiles = (m + tile_size - 1) / tile_size, column_tiles = (n + tile_size - 1) / tile_size;
  for (int item : block_per_item(row_tiles * column_tiles)) {
    const int row0 = item / column_tiles * tile_size, column0 = item % column_tiles * tile_size;
    Accumulator acc;
    block_matmul({x, m, k, k, 1}, {parameters, n, k, 1, n}, row0, column0, 0, k, acc);
    acc.for_each_row([&](int i, int j, const float(&v)[micro]) {
      float out[micro];
      UNROLL for (int t = 0; t < micro; ++t) {
        const int column = column0 + j + t;
        const float s = v[t] + (column < n ? bias[column] : 0.0f);
        out[t] = relu && s < 0.0f ? 0.0f : s;  // not max(0, s): that would hide a NaN
      }
      store_row(y, m, n, row0 + i, column0 + j, out);
    });
  }
}

KERNEL void LAUNCH_BOUNDS(matmul_threads)
    dense_backward_data_kernel(const float* __restrict__ dy, const float* __restrict__ parameters,
                               const float* __restrict__ x, float* __restrict__ dx, int m, int n, int k) {
  const int row_tiles = (m + tile_size - 1) / tile_size, column_tiles = (k + tile_size - 1) / tile_size;
  for (int item : block_per_item(row_tiles * column_tiles)) {
    const int row0 = item / column_tiles * tile_size, column0 = item % column_tiles * tile_size;
    Accumulator acc;
    block_matmul({dy, m, n, n, 1}, {parameters, k, n, n, 1}, row0, column0, 0, n, acc);
    acc.for_each_row([&](int i, int j, const float(&v)[micro]) {
      float out[micro];
      UNROLL for (int t = 0; t < micro; ++t) {
        const bool inside = row0 + i < m && column0 + j + t < k;
        const bool dead = inside && x[static_cast<int64_t>(row0 + i) * k + column0 + j + t] <= 0.0f;
        out[t] = dead ? 0.0f : v[t];
      }
      store_row(dx, m, k, row0 + i, column0 + j, out);
    });
  }
}

KERNEL void LAUNCH_BOUNDS(matmul_threads)
    dense_backward_weight_kernel(const float* __restrict__ x, const float* __restrict__ dy, float* __restrict__ partial,
                                 int m, int n, int k, int splits, int stride) {
  const int row_tiles = (k + tile_size - 1) / tile_size, column_tiles = (n + tile_size - 1) / tile_size;
  const int tiles = row_tiles * column_tiles;
  // Whole slabs a split, so that a partial sum does not depend on anything but the shape.
  const int rows_a_split = ((m + splits - 1) / splits + slab - 1) / slab * slab;
  for (int item : block_per_item(tiles * splits)) {
    const int split = item / tiles, tile = item % tiles;
    const int row0 = tile / column_tiles * tile_size, column0 = tile % column_tiles * tile_size;
    const int begin = split * rows_a_split < m ? split * rows_a_split : m;
    const int end = begin + rows_a_split < m ? begin + rows_a_split : m;
    float* out = partial + static_cast<int64_t>(split) * stride;
    Accumulator acc;
    block_matmul({x, k, m, 1, k}, {dy, n, m, 1, n}, row0, column0, begin, end, acc);
    acc.for_each_row([&](int i, int j, const float(&v)[micro]) { store_row(out, k, n, row0 + i, column0 + j, v); });
    if (row0 == 0) {  // the bias gradient is the column sum of dy
      for (int t : thread_stride(tile_size)) {
        if (column0 + t >= n) continue;
        float sum = 0.0f;
        for (int r = begin; r < end; ++r) sum += dy[static_cast<int64_t>(r) * n + column0 + t];
        out[static_cast<int64_t>(k) * n + column0 + t] = sum;
      }
    }
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    reduce_partials_kernel(const float* __restrict__ partial, float* __restrict__ gradient, int n, int splits) {
  for (int i : grid_stride(n)) {
    float sum = 0.0f;
    for (int s = 0; s < splits; ++s) sum += partial[static_cast<int64_t>(s) * n + i];
    gradient[i] = sum;
  }
}
