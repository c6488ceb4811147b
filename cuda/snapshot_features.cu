// Features of a whole table of snapshots: a thread makes those of one, out of shared memory.
#include "cuda/snapshot_features.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

constexpr int chunk = 64;  // snapshots of a block
constexpr int quads = sizeof(Mbp10RawInput) / sizeof(float4), feature_quads = snapshot_features / 4;
/// A snapshot in shared memory, an odd number of 16-byte words long: threads that read the same word of neighbouring
/// snapshots meet in no bank.
union Staged {
  Mbp10RawInput book;
  float4 quad[quads + (quads + 1) % 2];
};

}  // namespace

KERNEL void LAUNCH_BOUNDS(chunk)
    snap_feature_assemble_kernel(const Mbp10RawInput* __restrict__ before, const Mbp10RawInput* __restrict__ input,
                                 float* __restrict__ features, int rows, int64_t tick) {
  SHARED_ARRAY(Staged, books, chunk + 1);  // the one before the chunk first
  const float unit = static_cast<float>(tick);
  for (int item : block_per_item((rows + chunk - 1) / chunk)) {
    const int first = item * chunk, count = rows - first < chunk ? rows - first : chunk;
    const float4* from = reinterpret_cast<const float4*>(input + first);
    const float4* just_before = reinterpret_cast<const float4*>(first > 0 ? input + first - 1 : before);
    for (int i : thread_stride((count + 1) * quads))
      books[i / quads].quad[i % quads] = i < quads ? just_before[i] : from[i - quads];
    __syncthreads();
    for (int r : thread_stride(count)) {
      // A row is whole sectors of memory, so it needs no detour over shared memory, which more books fill better.
      union {
        float value[snapshot_features];
        float4 quad[feature_quads];
      } row;
      snapshot_row(books[r + 1].book, books[r].book, unit, row.value);
      float4* out = reinterpret_cast<float4*>(features) + static_cast<int64_t>(first + r) * feature_quads;
      UNROLL_ALL for (int i = 0; i < feature_quads; ++i) out[i] = row.quad[i];
    }
    __syncthreads();
  }
}
