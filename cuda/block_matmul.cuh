#pragma once
// The one block-level matrix product: C tile [64, 64] += A [64, depth] B [depth, 64], float32 multiply-add.
// Operands pass through shared memory in slabs of 16 along the depth; a thread keeps 8 x 8 results in registers. On the
// host one thread owns all 64 of these microtiles and the innermost loop is eight wide, which vectorises.
#include "cuda/device.cuh"

namespace foxhunt::cuda {

inline constexpr int tile_size = 64, slab = 16, micro = 8;
inline constexpr int microtiles = (tile_size / micro) * (tile_size / micro);
inline constexpr int matmul_threads = 64;
/// Row pitch of a slab in shared memory: 16-byte aligned, and not a multiple of the 32 banks.
inline constexpr int slab_pitch = tile_size + 4;

/// A matrix in global memory: element (r, c) at data[r * row_stride + c * column_stride], zero outside
/// [rows, columns). One of the two strides is 1.
struct MatrixView {
  const float* data;
  int rows, columns, row_stride, column_stride;
};

/// Four neighbours along the contiguous direction, zero where the row ends; one 16-byte load where that is aligned.
DEVICE float4 load4(const float* p, int available) {
  if (available >= 4 && (reinterpret_cast<uintptr_t>(p) & 15u) == 0) return *reinterpret_cast<const float4*>(p);
  return {available > 0 ? p[0] : 0.0f, available > 1 ? p[1] : 0.0f, available > 2 ? p[2] : 0.0f,
          available > 3 ? p[3] : 0.0f};
}

/// Loads one slab of an operand as stage[depth][index]. `view` has the tile index along its rows and the depth along
/// its columns; `index0` and `depth0` are where this slab starts. Split in fetch and store so that the next slab is on
/// its way from memory while the present one is multiplied.
struct SlabLoader {
  static constexpr int quads = tile_size * slab / 4;
  static constexpr int owned = owned_items(quads, matmul_threads);

  DEVICE static void fetch(const MatrixView& view, int index0, int depth0, float4 (&quad)[owned]) {
    const bool along_depth = view.column_stride == 1;
    UNROLL for (int o = 0; o < owned; ++o) {
      const int q = static_cast<int>(threadIdx.x) + o * static_cast<int>(blockDim.x);
      if (q >= quads) break;
      const int index = index0 + (along_depth ? q / (slab / 4) : 4 * (q % (tile_size / 4)));
      const int depth = depth0 + (along_depth ? 4 * (q % (slab / 4)) : q / (tile_size / 4));
      const bool inside = index < view.rows && depth < view.columns;
      const int available = !inside ? 0 : along_depth ? view.columns - depth : view.rows - index;
      quad[o] = load4(view.data + static_cast<int64_t>(index) * view.row_stride +
                          static_cast<int64_t>(depth) * view.column_stride,
                      available);
    }
  }

  DEVICE static void store(const MatrixView& view, const float4 (&quad)[owned], float* stage) {
    const bool along_depth = view.column_stride == 1;
    UNROLL for (int o = 0; o < owned; ++o) {
      const int q = static_cast<int>(threadIdx.x) + o * static_cast<int>(blockDim.x);
      if (q >= quads) break;
      if (along_depth) {
        float* to = stage + 4 * (q % (slab / 4)) * slab_pitch + q / (slab / 4);
        to[0] = quad[o].x, to[slab_pitch] = quad[o].y, to[2 * slab_pitch] = quad[o].z, to[3 * slab_pitch] = quad[o].w;
      } else {
        *reinterpret_cast<float4*>(stage + q / (tile_size / 4) * slab_pitch + 4 * (q % (tile_size / 4))) = quad[o];
      }
    }
  }
};

/// Results of the microtiles that this thread owns.
struct Accumulator {
  static constexpr int owned = owned_items(microtiles, matmul_threads);
  float value[owned][micro][micro];

  DEVICE void clear() {
    for (auto& tile : value)
      UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) tile[i][j] = 0.0f;
  }

  /// Calls f(row, column, values): eight neighbouring results of one row of the tile.
  template <class F>
  DEVICE void for_each_row(F f) const {
    UNROLL for (int o = 0; o < owned; ++o) {
      const int u = static_cast<int>(threadIdx.x) + o * static_cast<int>(blockDim.x);
      if (u >= microtiles) break;
      UNROLL for (int i = 0; i < micro; ++i) f(u / 8 * micro + i, u % 8 * micro, value[o][i]);
    }
  }
};

DEVICE void multiply_slab(const float* a, const float* b, Accumulator& acc) {
  UNROLL for (int o = 0; o < Accumulator::owned; ++o) {
    const int u = static_cast<int>(threadIdx.x) + o * static_cast<int>(blockDim.x);
    if (u >= microtiles) break;
    const float* a_column = a + u / 8 * micro;
    const float* b_row = b + u % 8 * micro;
    float c[micro][micro];
    UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) c[i][j] = acc.value[o][i][j];
    for (int d = 0; d < slab; ++d) {
      float x[micro], y[micro];
      *reinterpret_cast<float4*>(x) = *reinterpret_cast<const float4*>(a_column + d * slab_pitch);
      *reinterpret_cast<float4*>(x + 4) = *reinterpret_cast<const float4*>(a_column + d * slab_pitch + 4);
      *reinterpret_cast<float4*>(y) = *reinterpret_cast<const float4*>(b_row + d * slab_pitch);
      *reinterpret_cast<float4*>(y + 4) = *reinterpret_cast<const float4*>(b_row + d * slab_pitch + 4);
      UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) c[i][j] += x[i] * y[j];
    }
    UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) acc.value[o][i][j] = c[i][j];
  }
}

/// acc = A[row0 + 0..63, begin..end) B[begin..end, column0 + 0..63]. `a` is [m, depth]; `b` is given transposed, as
/// [n, depth], like a's partner in a dot product of rows. Every thread of the block calls this.
DEVICE void block_matmul(const MatrixView& a, const MatrixView& b, int row0, int column0, int begin, int end,
                         Accumulator& acc) {
  SHARED_ARRAY(float, stage, 2 * slab * slab_pitch);
  float* const stage_a = stage;
  float* const stage_b = stage + slab * slab_pitch;
  MatrixView a_part = a, b_part = b;
  a_part.columns = b_part.columns = end;
  float4 next_a[SlabLoader::owned], next_b[SlabLoader::owned];
  acc.clear();
  SlabLoader::fetch(a_part, row0, begin, next_a);
  SlabLoader::fetch(b_part, column0, begin, next_b);
  for (int depth = begin; depth < end; depth += slab) {
    SlabLoader::store(a_part, next_a, stage_a);
    SlabLoader::store(b_part, next_b, stage_b);
    __syncthreads();
    if (depth + slab < end) {
      SlabLoader::fetch(a_part, row0, depth + slab, next_a);
      SlabLoader::fetch(b_part, column0, depth + slab, next_b);
    }
    multiply_slab(stage_a, stage_b, acc);
    __syncthreads();
  }
}

}  // namespace foxhunt::cuda
