// The live path's two ends: a snapshot in, a prediction out, both through mapped memory that the host writes and reads
// at the same time.
#include "cuda/device.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

constexpr int most_reads = 1000;
constexpr int snapshot_words = sizeof(Mbp10RawInput) / sizeof(uint32_t);
constexpr int answer_words = sizeof(Prediction) / sizeof(uint32_t);

/// Copies the payload into `taken`, in shared memory; false when a writer was at it. Every thread gets the answer.
DEVICE bool read_once(const MappedSlot<Mbp10RawInput>& slot, uint32_t* taken, uint32_t* sequence) {
  if (threadIdx.x == 0) sequence[0] = load_acquire(&slot.sequence);
  __syncthreads();
  const uint32_t* from = reinterpret_cast<const uint32_t*>(&slot.payload);
  for (int i : thread_stride(snapshot_words)) taken[i] = load_acquire(from + i);
  __syncthreads();
  if (threadIdx.x == 0) sequence[1] = load_acquire(&slot.sequence);
  __syncthreads();
  const bool whole = sequence[0] == sequence[1] && sequence[0] % 2 == 0;
  __syncthreads();
  return whole;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(128)
    take_snapshot_kernel(const MappedSlot<Mbp10RawInput>* __restrict__ slot, Mbp10RawInput* __restrict__ before,
                         Mbp10RawInput* __restrict__ now, float* __restrict__ seconds, float* __restrict__ state,
                         uint32_t* __restrict__ live, int hidden) {
  if (blockIdx.x != 0) return;
  SHARED_ARRAY(uint32_t, taken, snapshot_words);
  SHARED_ARRAY(uint32_t, sequence, 2);
  int torn = 0;
  while (torn < most_reads && !read_once(*slot, taken, sequence)) ++torn;
  const bool whole = torn < most_reads;
  uint32_t *kept = reinterpret_cast<uint32_t*>(now), *old = reinterpret_cast<uint32_t*>(before);
  if (whole)
    for (int i : thread_stride(snapshot_words)) {
      old[i] = kept[i];
      kept[i] = taken[i];
    }
  __syncthreads();
  if (whole && now->first)
    for (int j : thread_stride(hidden)) state[j] = 0.0f;
  if (threadIdx.x == 0) {
    seconds[0] = whole ? now->seconds : 0.0f;  // no time passes without a snapshot
    if (whole) live[0] = sequence[0];
    live[1] += static_cast<uint32_t>(torn);
    live[2] += whole ? 0u : 1u;
  }
}

KERNEL void LAUNCH_BOUNDS(128)
    publish_prediction_kernel(const float* __restrict__ logits, const float* __restrict__ projection,
                              const float* __restrict__ next, const uint32_t* __restrict__ live,
                              float* __restrict__ state, MappedSlot<Prediction>* __restrict__ slot, int hidden) {
  if (blockIdx.x != 0) return;
  for (int j : thread_stride(hidden)) state[j] = next[j];
  if (threadIdx.x != 0) return;
  Prediction answer;
  for (int z = 0; z < alpha_horizons; ++z) answer.probability[z] = 1.0f / (1.0f + expf(-logits[z]));
  for (int k = 0; k < alpha_projections; ++k) answer.projection[k] = projection[k];
  answer.snapshot = live[0], answer.torn = live[1], answer.missed = live[2];
  uint32_t words[answer_words];
  memcpy(words, &answer, sizeof answer);
  uint32_t* to = reinterpret_cast<uint32_t*>(&slot->payload);
  const uint32_t before = slot->sequence;
  store_release(&slot->sequence, before + 1);
  for (int i = 0; i < answer_words; ++i) store_release(to + i, words[i]);
  store_release(&slot->sequence, before + 2);
}
