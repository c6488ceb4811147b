#pragma once
// Slots in mapped memory as kernels see them: read and written while the host writes and reads.
#include <cstddef>

#include "cuda/bus.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// A word of any value: what is stored through it may be read as what it is.
typedef uint32_t __attribute__((may_alias)) AnyWord;

template <class T>
inline constexpr int slot_words = sizeof(T) / sizeof(uint32_t);

/// Copies what the slot holds into `taken`, in shared memory, and tells its sequence. False when it met words of more
/// than one value: a writer was at it. Every thread gets the same answer.
template <class T>
DEVICE bool read_slot(const MappedSlot<T>& slot, T& taken, uint32_t& sequence) {
  SHARED_ARRAY(uint32_t, first, 1);
  AnyWord* to = reinterpret_cast<AnyWord*>(&taken);
  uint32_t lowest = UINT32_MAX, highest = 0;
  for (int i : thread_stride(slot_words<T>)) {
    const uint64_t v = load_bus_word(&slot.tagged[i]);
    const uint32_t tag = static_cast<uint32_t>(v >> 32);
    to[i] = static_cast<uint32_t>(v);
    lowest = tag < lowest ? tag : lowest, highest = tag > highest ? tag : highest;
    if (i == 0) first[0] = tag;
  }
  __syncthreads();
  sequence = first[0];
  return block_all(lowest >= sequence && highest <= sequence);
}

/// Takes a value newer than `last` from the slot, at most `most_reads` reads of it; false when none came. Counts reads
/// that met a writer.
template <class T>
DEVICE bool take_newer(const MappedSlot<T>& slot, T& taken, uint32_t last, uint32_t& sequence, uint32_t& torn) {
  constexpr int most_reads = 1000;
  for (int i = 0; i < most_reads; ++i) {
    if (read_slot(slot, taken, sequence)) return sequence != last;
    ++torn;
    wait_a_moment();
  }
  return false;
}

/// to = from, by the threads of the block.
template <class T>
DEVICE void copy_by_block(const T& from, T& to) {
  const AnyWord* source = reinterpret_cast<const AnyWord*>(&from);
  AnyWord* destination = reinterpret_cast<AnyWord*>(&to);
  for (int i : thread_stride(slot_words<T>)) destination[i] = source[i];
}

template <class T>
DEVICE void store_word(MappedSlot<T>& slot, int i, uint32_t word, uint32_t sequence) {
  store_bus_word(&slot.tagged[i], static_cast<uint64_t>(sequence) << 32 | word);
}

/// What the live path counts, in the order of `live`.
struct LiveCounts {
  uint32_t sequence, torn, missed, answers;
  DEVICE explicit LiveCounts(const uint32_t* live)
      : sequence(live[0]), torn(live[1]), missed(live[2]), answers(live[3]) {}
  /// A snapshot was read whole; those between it and the last one never were.
  DEVICE void take(uint32_t taken) { missed += taken - sequence - 1, sequence = taken; }
  DEVICE void store(uint32_t* live) const { live[0] = sequence, live[1] = torn, live[2] = missed, live[3] = answers; }
};

/// Word i of the answer. `logit` belongs to horizon i, where there is one.
DEVICE uint32_t answer_word(int i, float logit, const float* projection, const LiveCounts& counts) {
  static_assert(offsetof(Prediction, projection) == 4 * alpha_horizons);
  static_assert(offsetof(Prediction, snapshot) == 4 * (alpha_horizons + alpha_projections));
  // A choice of values, not of paths: a live snapshot waits for one warp.
  const int k = i - alpha_horizons, count = k - alpha_projections;
  const float probability = 1.0f / (1.0f + expf(-logit));
  const float projected = projection[k > 0 && k < alpha_projections ? k : 0];
  const uint32_t counted = count == 0 ? counts.sequence : count == 1 ? counts.torn : counts.missed;
  return count >= 0 ? counted : __float_as_uint(k < 0 ? probability : projected);
}

}  // namespace foxhunt::cuda
