#pragma once
// The one block-level matrix product: C tile [64, 64] += A [64, depth] B [depth, 64], float32 multiply-add.
// Operands pass through shared memory in slabs of 8 along the depth; a thread keeps 8 x 8 results in registers. On the
// host one thread owns all 64 of these microtiles and the innermost loop is eight wide, which vectorises.
#include "cuda/device.cuh"

namespace foxhunt::cuda {

inline constexpr int tile_size = 64, slab = 8, micro = 8;
inline constexpr int microtiles = (tile_size / micro) * (tile_size / micro);
inline constexpr int matmul_threads = 64, matmul_blocks = 8;  // of which so many share a multiprocessor
/// Row pitch of a slab in shared memory: 16-byte aligned, and not a multiple of the 32 banks.
inline constexpr int slab_pitch = tile_size + 4;

/// A matrix operand in global memory: `rows` along the tile, `columns` along the depth. Element (r, c) lies at
/// data[r * pitch + c] when neighbours along the depth touch, else at data[c * pitch + r].
struct MatrixView {
  const float* data;
  int rows, columns, pitch;
  bool along_depth;

  DEVICE const float* element(int r, int c) const {
    return data + (along_depth ? static_cast<int64_t>(r) * pitch + c : static_cast<int64_t>(c) * pitch + r);
  }
  /// Whether four neighbours are always one aligned 16-byte load.
  DEVICE bool aligned() const {
    return (reinterpret_cast<uintptr_t>(data) & 15u) == 0 && pitch % 4 == 0 && (along_depth || rows % 4 == 0) &&
           rows > 0;
  }
};

/// Four neighbours along the contiguous direction, zero where the row ends; one 16-byte load where that is aligned.
DEVICE float4 load4(const float* p, int available) {
  if (available >= 4 && (reinterpret_cast<uintptr_t>(p) & 15u) == 0) return *reinterpret_cast<const float4*>(p);
  return {available > 0 ? p[0] : 0.0f, available > 1 ? p[1] : 0.0f, available > 2 ? p[2] : 0.0f,
          available > 3 ? p[3] : 0.0f};
}

/// Brings slabs of an operand as stage[depth][index]. Split in fetch and store, so that the next slab is on its way
/// from memory while the present one is multiplied.
class SlabLoader {
 public:
  using Quads = OwnedItems<tile_size * slab / 4, matmul_threads>;
  static constexpr int owned = Quads::count;

  DEVICE SlabLoader(const MatrixView& view, int index0, int begin) : view_(view), index0_(index0) {
    UNROLL for (int o = 0; o < owned; ++o) {
      // Rows past the end read the last ones again: what comes of them is not stored.
      const int last = view.along_depth ? view.rows - 1 : view.rows - 4;
      const int index = index0 + index_of(quad(o));
      at_[o] = view.element(index < last ? index : last, begin + depth_of(quad(o)));
    }
  }

  /// The whole slab after the one fetched before, of an aligned view.
  DEVICE void fetch_next(float4 (&value)[owned]) {
    UNROLL for (int o = 0; o < owned; ++o) {
      if (!Quads::exists(quad(o))) break;
      value[o] = *reinterpret_cast<const float4*>(at_[o]);
      at_[o] += view_.along_depth ? slab : static_cast<int64_t>(slab) * view_.pitch;
    }
  }

  /// The slab at `depth0`, zero outside the matrix.
  DEVICE void fetch_checked(int depth0, float4 (&value)[owned]) const {
    UNROLL for (int o = 0; o < owned; ++o) {
      if (!Quads::exists(quad(o))) break;
      const int index = index0_ + index_of(quad(o)), depth = depth0 + depth_of(quad(o));
      const bool inside = index < view_.rows && depth < view_.columns;
      const int available = !inside ? 0 : view_.along_depth ? view_.columns - depth : view_.rows - index;
      value[o] = load4(inside ? view_.element(index, depth) : view_.data, available);
    }
  }

  DEVICE void store(const float4 (&value)[owned], float* stage) const {
    UNROLL for (int o = 0; o < owned; ++o) {
      if (!Quads::exists(quad(o))) break;
      float* to = stage + depth_of(quad(o)) * slab_pitch + index_of(quad(o));
      if (view_.along_depth) {
        to[0] = value[o].x, to[slab_pitch] = value[o].y, to[2 * slab_pitch] = value[o].z,
        to[3 * slab_pitch] = value[o].w;
      } else {
        *reinterpret_cast<float4*>(to) = value[o];
      }
    }
  }

 private:
  DEVICE static int quad(int o) { return Quads::item(o); }
  DEVICE int index_of(int q) const { return view_.along_depth ? q / (slab / 4) : 4 * (q % (tile_size / 4)); }
  DEVICE int depth_of(int q) const { return view_.along_depth ? 4 * (q % (slab / 4)) : q / (tile_size / 4); }

  MatrixView view_;
  int index0_;
  const float* at_[owned];
};

/// Results of the microtiles that this thread owns.
struct Accumulator {
  using Microtiles = OwnedItems<microtiles, matmul_threads>;
  static constexpr int owned = Microtiles::count;
  float value[owned][micro][micro];

  DEVICE void clear() {
    for (auto& tile : value)
      UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) tile[i][j] = 0.0f;
  }

  /// Calls f(row, column, values): four neighbouring results of one row of the tile.
  template <class F>
  DEVICE void for_each_quad(F f) const {
    UNROLL for (int o = 0; o < owned; ++o) {
      const int u = Microtiles::item(o);
      if (!Microtiles::exists(u)) break;
      UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int half = 0; half < 2; ++half) {
        const float* v = value[o][i] + 4 * half;
        f(place(u / 8, i), place(u % 8, 4 * half), float4{v[0], v[1], v[2], v[3]});
      }
    }
  }

  /// Row or column of the tile for element i of microtile u along that side.
  DEVICE static int place(int u, int i) { return u * quarter_step + i % 4 + (i / 4) * quarter_apart; }
};

/// Eight operands of one step along the depth.
DEVICE void load_step(const float* from, float (&to)[micro]) {
  UNROLL for (int half = 0; half < 2; ++half) * reinterpret_cast<float4*>(to + 4 * half) =
      *reinterpret_cast<const float4*>(from + half * quarter_apart);
}

DEVICE void multiply_slab(const float* a, const float* b, Accumulator& acc) {
  UNROLL for (int o = 0; o < Accumulator::owned; ++o) {
    const int u = Accumulator::Microtiles::item(o);
    if (!Accumulator::Microtiles::exists(u)) break;
    const float* a_part = a + u / 8 * quarter_step;
    const float* b_part = b + u % 8 * quarter_step;
    float c[micro][micro];
    UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) c[i][j] = acc.value[o][i][j];
    // The operands of the next step are on their way while this one multiplies.
    float x[2][micro], y[2][micro];
    load_step(a_part, x[0]);
    load_step(b_part, y[0]);
    UNROLL for (int d = 0; d < slab; ++d) {
      if (d + 1 < slab) {
        load_step(a_part + (d + 1) * slab_pitch, x[(d + 1) % 2]);
        load_step(b_part + (d + 1) * slab_pitch, y[(d + 1) % 2]);
      }
      UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) c[i][j] +=
          x[d % 2][i] * y[d % 2][j];
    }
    UNROLL for (int i = 0; i < micro; ++i) UNROLL for (int j = 0; j < micro; ++j) acc.value[o][i][j] = c[i][j];
  }
}

/// acc = A[row0 + 0..63, begin..end) B[begin..end, column0 + 0..63]. `a` is [m, depth]; `b` is given transposed, as
/// [n, depth], like a's partner in a dot product of rows. Every thread of the block calls this. `on_slab` is called
/// with each slab of B, [slab, slab_pitch] in shared memory, while it is there.
template <class OnSlab>
DEVICE void block_matmul(const MatrixView& a, const MatrixView& b, int row0, int column0, int begin, int end,
                         Accumulator& acc, const OnSlab& on_slab) {
  constexpr int slab_floats = slab * slab_pitch;
  SHARED_ARRAY(float, stage, 4 * slab_floats);  // two of each operand: one multiplied, one filled
  MatrixView a_part = a, b_part = b;
  a_part.columns = b_part.columns = end;
  SlabLoader load_a(a_part, row0, begin), load_b(b_part, column0, begin);
  const bool aligned = a.aligned() && b.aligned() && (begin % 4 == 0);
  float4 next_a[SlabLoader::owned], next_b[SlabLoader::owned];
  const auto fetch = [&](int depth) {
    if (aligned && depth + slab <= end) {
      load_a.fetch_next(next_a);
      load_b.fetch_next(next_b);
    } else {
      load_a.fetch_checked(depth, next_a);
      load_b.fetch_checked(depth, next_b);
    }
  };
  acc.clear();
  if (begin >= end) return;
  fetch(begin);
  load_a.store(next_a, stage);
  load_b.store(next_b, stage + slab_floats);
  __syncthreads();
  int half = 0;
  for (int depth = begin; depth < end; depth += slab) {
    const float* now = stage + 2 * half * slab_floats;
    half ^= 1;
    if (depth + slab < end) fetch(depth + slab);
    multiply_slab(now, now + slab_floats, acc);
    on_slab(now + slab_floats);
    if (depth + slab < end) {
      load_a.store(next_a, stage + 2 * half * slab_floats);
      load_b.store(next_b, stage + (2 * half + 1) * slab_floats);
    }
    __syncthreads();
  }
}

DEVICE void block_matmul(const MatrixView& a, const MatrixView& b, int row0, int column0, int begin, int end,
                         Accumulator& acc) {
  block_matmul(a, b, row0, column0, begin, end, acc, [](const float*) {});
}

/// Sums over the depth of the columns of B that this thread owns.
struct ColumnSums {
  using Columns = OwnedItems<tile_size, matmul_threads>;
  static constexpr int owned = Columns::count;
  float value[owned] = {};

  DEVICE void add(const float* slab_b) {
    UNROLL for (int o = 0; o < owned; ++o) {
      const int column = Columns::item(o);
      if (!Columns::exists(column)) break;
      UNROLL for (int d = 0; d < slab; ++d) value[o] += slab_b[d * slab_pitch + column];
    }
  }
  template <class F>
  DEVICE void for_each(F f) const {
    UNROLL for (int o = 0; o < owned; ++o) {
      const int column = Columns::item(o);
      if (Columns::exists(column)) f(column, value[o]);
    }
  }
};

}  // namespace foxhunt::cuda
