// The live path's two ends, a snapshot in and a prediction out, and the fills beside it: all through mapped memory that
// the host writes and reads at the same time.
#include "cuda/alpha_live.cuh"

using namespace foxhunt;
using namespace foxhunt::cuda;

KERNEL void LAUNCH_BOUNDS(128)
    take_snapshot_kernel(const MappedSlot<Mbp10RawInput>* __restrict__ slot, Mbp10RawInput* __restrict__ before,
                         Mbp10RawInput* __restrict__ now, float* __restrict__ seconds, float* __restrict__ state,
                         uint32_t* __restrict__ live, int hidden) {
  if (blockIdx.x != 0) return;
  SHARED_ARRAY(Mbp10RawInput, taken, 1);
  LiveCounts counts(live);
  uint32_t sequence;
  const bool came = take_newer(*slot, taken[0], counts.sequence, sequence, counts.torn);
  if (came) {
    copy_by_block(*now, *before);
    copy_by_block(taken[0], *now);
    if (taken[0].first)
      for (int j : thread_stride(hidden)) state[j] = 0.0f;
    counts.take(sequence);
  }
  if (threadIdx.x == 0) {
    seconds[0] = came ? taken[0].seconds : 0.0f;  // no time passes without a snapshot
    counts.store(live);
  }
}

KERNEL void LAUNCH_BOUNDS(128)
    publish_prediction_kernel(const float* __restrict__ logits, const float* __restrict__ projection,
                              const float* __restrict__ next, uint32_t* __restrict__ live, float* __restrict__ state,
                              MappedSlot<Prediction>* __restrict__ slot, int hidden) {
  if (blockIdx.x != 0) return;
  LiveCounts counts(live);
  ++counts.answers;
  for (int i : thread_stride(slot_words<Prediction>))
    store_word(*slot, i, answer_word(i, i < alpha_horizons ? logits[i] : 0.0f, projection, counts), counts.answers);
  for (int j : thread_stride(hidden)) state[j] = next[j];
  __syncthreads();
  if (threadIdx.x == 0) counts.store(live);
}

namespace {

/// What an execution makes of a position. One that leaves another position than its own contracts would has others
/// before it that were never seen: what was paid for those, nobody knows, and the average starts at this price.
DEVICE void apply(LivePosition& held, const Fill& fill, uint32_t sequence) {
  const double price = 1e-9 * static_cast<double>(fill.price);
  const int before = held.contracts, change = fill.contracts, after = fill.position;
  held.missed += sequence - held.sequence - 1;
  if (after - change != before) {
    held.average_price = price;
  } else if (after != 0 && (before == 0 || (before > 0) == (change > 0))) {  // opened or added to
    const double was = fabs(static_cast<double>(before)), is = fabs(static_cast<double>(after));
    held.average_price = (held.average_price * was + price * (is - was)) / is;
  } else {  // closed in part, in full, or turned round
    const bool turned = after != 0 && (after > 0) != (before > 0);
    held.realised += (price - held.average_price) * static_cast<double>(turned ? before : before - after);
    if (turned) held.average_price = price;
  }
  if (after == 0) held.average_price = 0.0;
  held.ts = fill.ts, held.contracts = after, held.sequence = sequence;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(32)
    take_fill_kernel(const MappedSlot<Fill>* __restrict__ slot, LivePosition* __restrict__ position) {
  if (blockIdx.x != 0) return;
  SHARED_ARRAY(Fill, taken, 1);
  uint32_t sequence, torn = 0;
  const bool came = take_newer(*slot, taken[0], position->sequence, sequence, torn);
  if (threadIdx.x != 0) return;
  position->torn += torn;
  if (came) apply(*position, taken[0], sequence);
}
