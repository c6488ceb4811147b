// A dense layer y = act(x W + b) and its two gradients. Parameters are one matrix [k + 1, n] whose last row is b.
#include "cuda/block_matmul.cuh"

#include "core/kernels.h"

using namespace foxhunt::cuda;

namespace {

/// Stores four neighbouring results where the matrix has them; as 16 bytes where that is aligned.
DEVICE void store_quad(float* matrix, int rows, int columns, int row, int column, float4 v) {
  if (row >= rows || column >= columns) return;
  float* to = matrix + static_cast<int64_t>(row) * columns + column;
  if (column + 4 <= columns && (reinterpret_cast<uintptr_t>(to) & 15u) == 0) {
    *reinterpret_cast<float4*>(to) = v;
    return;
  }
  to[0] = v.x;
  if (column + 1 < columns) to[1] = v.y;
  if (column + 2 < columns) to[2] = v.z;
  if (column + 3 < columns) to[3] = v.w;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(matmul_threads, matmul_blocks)
    dense_forward_kernel(const float* __restrict__ x, const float* __restrict__ parameters, float* __restrict__ y,
                         int m, int n, int k, int relu) {
  const float* bias = parameters + static_cast<int64_t>(k) * n;
  const int row_tiles = (m + tile_size - 1) / tile_size, column_tiles = (n + tile_size - 1) / tile_size;
  for (int item : block_per_item(row_tiles * column_tiles)) {
    const int row0 = item / column_tiles * tile_size, column0 = item % column_tiles * tile_size;
    Accumulator acc;
    block_matmul({x, m, k, k, true}, {parameters, n, k, n, false}, row0, column0, 0, k, acc);
    acc.for_each_quad([&](int i, int j, float4 v) {
      const int column = column0 + j;
      const float4 b = load4(bias + column, n - column);
      // Not max(0, s): that would hide a NaN.
      const auto activate = [&](float s) { return relu && s < 0.0f ? 0.0f : s; };
      store_quad(y, m, n, row0 + i, column,
                 {activate(v.x + b.x), activate(v.y + b.y), activate(v.z + b.z), activate(v.w + b.w)});
    });
  }
}

KERNEL void LAUNCH_BOUNDS(matmul_threads, matmul_blocks)
    dense_backward_data_kernel(const float* __restrict__ dy, const float* __restrict__ parameters,
                               const float* __restrict__ x, float* __restrict__ dx, int m, int n, int k) {
  const int row_tiles = (m + tile_size - 1) / tile_size, column_tiles = (k + tile_size - 1) / tile_size;
  for (int item : block_per_item(row_tiles * column_tiles)) {
    const int row0 = item / column_tiles * tile_size, column0 = item % column_tiles * tile_size;
    Accumulator acc;
    block_matmul({dy, m, n, n, true}, {parameters, k, n, n, true}, row0, column0, 0, n, acc);
    acc.for_each_quad([&](int i, int j, float4 v) {
      const int row = row0 + i, column = column0 + j;
      const float4 input = load4(x + static_cast<int64_t>(row) * k + column, row < m ? k - column : 0);
      store_quad(dx, m, k, row, column,
                 {input.x <= 0.0f ? 0.0f : v.x, input.y <= 0.0f ? 0.0f : v.y, input.z <= 0.0f ? 0.0f : v.z,
                  input.w <= 0.0f ? 0.0f : v.w});
    });
  }
}

KERNEL void LAUNCH_BOUNDS(matmul_threads, matmul_blocks)
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
    ColumnSums bias;  // the bias gradient is the column sum of dy; the first row of tiles takes it along
    block_matmul({x, k, m, k, false}, {dy, n, m, n, false}, row0, column0, begin, end, acc, [&](const float* slab_dy) {
      if (row0 == 0) bias.add(slab_dy);
    });
    acc.for_each_quad([&](int i, int j, float4 v) { store_quad(out, k, n, row0 + i, column0 + j, v); });
    if (row0 == 0)
      bias.for_each([&](int column, float sum) {
        if (column0 + column < n) out[static_cast<int64_t>(k) * n + column0 + column] = sum;
      });
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    reduce_partials_kernel(const float* __restrict__ partial, float* __restrict__ gradient, int n, int splits) {
  for (int i : grid_stride(n)) {
    float sum = 0.0f;
    UNROLL_16 for (int s = 0; s < splits; ++s) sum += partial[static_cast<int64_t>(s) * n + i];
    gradient[i] = sum;
  }
}
