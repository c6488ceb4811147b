#pragma once
// This file and bus.cuh alone ask which compiler reads them. On a GPU a tile is a warp and a block is what was
// launched; on the host a block is one thread and a tile one lane. A kernel written with the strides and reductions
// below is right for any block size, one included. The tests compile the host target a second time with
// FOXHUNT_THREADED_BLOCKS, where a block is 32 or 96 real threads and a tile 32 of them: a missing barrier is a race
// that ThreadSanitizer sees.
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#include <cuda_pipeline_primitives.h>

#define KERNEL extern "C" __global__
#define DEVICE __device__ __forceinline__
#define LAUNCH_BOUNDS(...) __launch_bounds__(__VA_ARGS__)
/// Of a kernel that is launched with this many threads a block and no other: strides over a block become straight code.
#define BLOCK_IS_EXACTLY(threads) __builtin_assume(blockDim.x == (threads) && threadIdx.x < (threads))
#define SHARED_ARRAY(type, name, count) __shared__ __align__(16) type name[count]
#define UNROLL _Pragma("unroll")
#define UNROLL_16 _Pragma("unroll 16")
#define UNROLL_ALL _Pragma("unroll")

namespace foxhunt::cuda {
/// The part of `total` items that one thread of a block of exactly `threads` owns, with a compile-time count for
/// register arrays and, where they divide evenly, no bound to check.
template <int total, int threads>
struct OwnedItems {
  static constexpr int count = (total + threads - 1) / threads;
  __device__ __forceinline__ static int item(int o) { return static_cast<int>(threadIdx.x) + o * threads; }
  __device__ __forceinline__ static bool exists(int item) { return total % threads == 0 || item < total; }
};
/// How many tiles a block of `threads` holds: the size of shared arrays with one part a tile.
__host__ __device__ constexpr int tiles_in(int threads) { return threads / 32; }
/// A thread's 8 x 8 results of a 64 x 64 product are four 4 x 4 quarters: neighbouring threads' quarters touch, so that
/// a warp reads 128 consecutive bytes of shared memory at a time.
constexpr int quarter_step = 4, quarter_apart = 32;
}  // namespace foxhunt::cuda

#else

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

// GCC emits a baseline and an AVX2+FMA version of every kernel and picks one when the program starts, so that one
// binary serves every x86-64. Sanitizers do not survive the resolver that picks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(FOXHUNT_SANITIZED)
#define KERNEL extern "C" __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define KERNEL extern "C"
#endif
#define DEVICE inline __attribute__((always_inline))
#define LAUNCH_BOUNDS(...)
#define BLOCK_IS_EXACTLY(threads)
#define UNROLL _Pragma("GCC unroll 8")
#define UNROLL_16 _Pragma("GCC unroll 8")
#define UNROLL_ALL _Pragma("GCC unroll 4")

struct HostDim {
  unsigned x = 1, y = 1, z = 1;
};
extern thread_local constinit HostDim threadIdx, blockIdx, blockDim, gridDim;

#ifdef FOXHUNT_THREADED_BLOCKS
// One block runs at a time, so what its threads share is plain static memory.
#define SHARED_ARRAY(type, name, count) alignas(64) static type name[count]
void __syncthreads();
void __syncwarp();
/// What each of the 32 lanes of the calling thread's tile passed; every lane calls it. Valid until the next call.
const float* gather_in_tile(float v);
#else
#define SHARED_ARRAY(type, name, count) alignas(64) static thread_local type name[count]
DEVICE void __syncthreads() {}
#endif
DEVICE void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

struct alignas(16) float4 {
  float x, y, z, w;
};

template <class T>
DEVICE T atomicAdd(T* address, T value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
DEVICE unsigned atomicOr(unsigned* address, unsigned value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
DEVICE unsigned atomicExch(unsigned* address, unsigned value) {
  return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);
}
DEVICE unsigned atomicMax(unsigned* address, unsigned value) {
  unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (old < value && !__atomic_compare_exchange_n(address, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  return old;
}
DEVICE unsigned atomicMin(unsigned* address, unsigned value) {
  unsigned old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (old > value && !__atomic_compare_exchange_n(address, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  return old;
}
DEVICE unsigned __float_as_uint(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
DEVICE float __uint_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
DEVICE unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32); }

namespace foxhunt::cuda {
template <int total, int>
struct OwnedItems {
  static constexpr int count = total;
  DEVICE static int item(int o) { return static_cast<int>(threadIdx.x) + o * static_cast<int>(blockDim.x); }
  DEVICE static bool exists(int item) { return item < total; }
};
#ifdef FOXHUNT_THREADED_BLOCKS
constexpr int tiles_in(int threads) { return (threads < 96 ? 96 : threads) / 32; }
#else
constexpr int tiles_in(int) { return 1; }
#endif
/// One thread's 8 x 8 results are neighbours: a vector register holds eight of them.
constexpr int quarter_step = 8, quarter_apart = 4;
}  // namespace foxhunt::cuda

#endif

namespace foxhunt::cuda {

DEVICE void copies_arrived() {
#ifdef __CUDACC__
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}

/// Range-for over first, first + step, ... below last.
struct Stride {
  int first, last, step;
  struct Iterator {
    int i, step;
    DEVICE int operator*() const { return i; }
    DEVICE void operator++() { i += step; }
    DEVICE bool operator!=(const Iterator& end) const { return i < end.i; }
  };
  DEVICE Iterator begin() const { return {first, step}; }
  DEVICE Iterator end() const { return {last, step}; }
};

/// Elements [0, n) over all threads of the grid.
DEVICE Stride grid_stride(int n) {
  return {static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), n, static_cast<int>(gridDim.x * blockDim.x)};
}
/// Items [0, n), one block each.
DEVICE Stride block_per_item(int n) { return {static_cast<int>(blockIdx.x), n, static_cast<int>(gridDim.x)}; }
/// Elements [0, n) over the threads of this block.
DEVICE Stride thread_stride(int n) { return {static_cast<int>(threadIdx.x), n, static_cast<int>(blockDim.x)}; }

/// to = from by the threads of the block, from memory to shared memory with no register in between. There after every
/// thread's copies_arrived() and a barrier.
template <class T>
DEVICE void copy_to_shared(T& to, const T& from) {
  static_assert(sizeof(T) % sizeof(float4) == 0 && alignof(T) >= sizeof(float4));
  constexpr int quads = static_cast<int>(sizeof(T) / sizeof(float4));
  float4* destination = reinterpret_cast<float4*>(&to);
  const float4* source = reinterpret_cast<const float4*>(&from);
#ifdef __CUDACC__
  for (int i : thread_stride(quads)) __pipeline_memcpy_async(destination + i, source + i, sizeof(float4));
#else
  for (int i : thread_stride(quads)) destination[i] = source[i];
#endif
}

/// A warp on the GPU, one lane on the host. All lanes call the collective functions together.
struct Tile {
#ifdef __CUDACC__
  static constexpr int width = 32;
  int lane = static_cast<int>(threadIdx.x & 31u);
  DEVICE float sum(float v) const {
    UNROLL for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(~0u, v, offset);
    return v;
  }
  DEVICE float max(float v) const {
    UNROLL for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, offset));
    return v;
  }
  DEVICE float inclusive_sum(float v) const {
    UNROLL for (int offset = 1; offset < 32; offset <<= 1) {
      const float below = __shfl_up_sync(~0u, v, offset);
      if (lane >= offset) v += below;
    }
    return v;
  }
  DEVICE float broadcast(float v, int from) const { return __shfl_sync(~0u, v, from); }
  /// Lowest and highest lane that says yes, or -1.
  DEVICE int first(bool yes) const { return __ffs(static_cast<int>(__ballot_sync(~0u, yes))) - 1; }
  DEVICE int last(bool yes) const { return 31 - __clz(static_cast<int>(__ballot_sync(~0u, yes))); }
  DEVICE void sync() const { __syncwarp(); }
#elif defined(FOXHUNT_THREADED_BLOCKS)
  static constexpr int width = 32;
  int lane = static_cast<int>(threadIdx.x & 31u);
  DEVICE float sum(float v) const {
    const float* all = gather_in_tile(v);
    float total = 0.0f;
    for (int i = 0; i < width; ++i) total += all[i];
    return total;
  }
  DEVICE float max(float v) const {
    const float* all = gather_in_tile(v);
    for (int i = 0; i < width; ++i) v = fmaxf(v, all[i]);
    return v;
  }
  DEVICE float inclusive_sum(float v) const {
    const float* all = gather_in_tile(v);
    float total = 0.0f;
    for (int i = 0; i <= lane; ++i) total += all[i];
    return total;
  }
  DEVICE float broadcast(float v, int from) const { return gather_in_tile(v)[from]; }
  DEVICE int first(bool yes) const {
    const float* all = gather_in_tile(yes ? 1.0f : 0.0f);
    for (int i = 0; i < width; ++i)
      if (all[i] != 0.0f) return i;
    return -1;
  }
  DEVICE int last(bool yes) const {
    const float* all = gather_in_tile(yes ? 1.0f : 0.0f);
    for (int i = width - 1; i >= 0; --i)
      if (all[i] != 0.0f) return i;
    return -1;
  }
  DEVICE void sync() const { __syncwarp(); }
#else
  static constexpr int width = 1;
  static constexpr int lane = 0;
  DEVICE float sum(float v) const { return v; }
  DEVICE float max(float v) const { return v; }
  DEVICE float inclusive_sum(float v) const { return v; }
  DEVICE float broadcast(float v, int) const { return v; }
  DEVICE int first(bool yes) const { return yes ? 0 : -1; }
  DEVICE int last(bool yes) const { return yes ? 0 : -1; }
  DEVICE void sync() const {}
#endif
  DEVICE int rank() const { return static_cast<int>(threadIdx.x) / width; }
  DEVICE int tiles() const { return (static_cast<int>(blockDim.x) + width - 1) / width; }
  /// Elements [0, n) over the lanes.
  DEVICE Stride over(int n) const { return {lane, n, width}; }
};

/// A short vector spread over the lanes of a tile and kept in registers: element z is held by lane z % width.
/// `capacity` bounds its length.
template <int capacity>
struct TileVector {
  static constexpr int held = (capacity + Tile::width - 1) / Tile::width;
  float value[held];

  /// Calls f(z, value) for the elements [0, n) that this lane holds.
  template <class F>
  DEVICE void for_each(const Tile& tile, int n, F f) {
    UNROLL for (int j = 0; j < held; ++j) {
      if (j * Tile::width >= n) break;
      const int z = j * Tile::width + tile.lane;
      if (z < n) f(z, value[j]);
    }
  }
};

/// Items [0, n), one tile each, over all tiles of the grid.
DEVICE Stride tile_per_item(int n) {
  const int tiles_in_block = static_cast<int>(blockDim.x) / Tile::width;
  return {static_cast<int>(blockIdx.x) * tiles_in_block + static_cast<int>(threadIdx.x) / Tile::width, n,
          static_cast<int>(gridDim.x) * tiles_in_block};
}

/// Sum over the threads of the block, in an order that depends on nothing but the block size; every thread gets it.
DEVICE float block_sum(float v) {
  SHARED_ARRAY(float, partial, 32);
  const Tile tile;
  v = tile.sum(v);
  if (tile.lane == 0) partial[tile.rank()] = v;
  __syncthreads();
  float total = 0.0f;
  for (int i : tile.over(tile.tiles())) total += partial[i];
  total = tile.sum(total);
  __syncthreads();
  return total;
}
DEVICE float block_max(float v) {
  SHARED_ARRAY(float, partial, 32);
  const Tile tile;
  v = tile.max(v);
  if (tile.lane == 0) partial[tile.rank()] = v;
  __syncthreads();
  float largest = -INFINITY;
  for (int i : tile.over(tile.tiles())) largest = fmaxf(largest, partial[i]);
  largest = tile.max(largest);
  __syncthreads();
  return largest;
}

/// Whether every thread of the block says yes; all call it together, and it is a barrier.
DEVICE bool block_all(bool yes) {
#ifdef __CUDACC__
  return __syncthreads_and(yes) != 0;
#else
  return block_max(yes ? 0.0f : 1.0f) == 0.0f;
#endif
}

/// Whether any thread does; likewise.
DEVICE bool block_any(bool yes) {
#ifdef __CUDACC__
  return __syncthreads_or(yes) != 0;
#else
  return block_max(yes ? 1.0f : 0.0f) != 0.0f;
#endif
}

/// False for NaN and both infinities, whatever the compiler assumes of floating point.
DEVICE bool is_finite(float v) { return (__float_as_uint(v) & 0x7f800000u) != 0x7f800000u; }

}  // namespace foxhunt::cuda
