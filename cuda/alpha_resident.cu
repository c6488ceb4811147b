// The whole live path in one kernel that stays: the weights wait in registers, W_rec h is made before the snapshot
// comes, and from the slot to the answer nothing leaves the multiprocessor. The sums are those of the kernels that it
// replaces, in their order.
#include "cuda/alpha_heads.cuh"
#include "cuda/alpha_live.cuh"
#include "cuda/cfc.cuh"
#include "cuda/snapshot_features.cuh"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

/// This thread's columns of W_in and b, zero beyond `hidden`.
struct InputWeights {
  float value[snapshot_features + 1][owned];
  DEVICE InputWeights(const float* input, int hidden) {
    UNROLL_ALL for (int i = 0; i <= snapshot_features; ++i) UNROLL for (int o = 0; o < owned; ++o) {
      const int j = Columns::item(o);
      value[i][o] = j < hidden ? input[i * hidden + j] : 0.0f;
    }
  }
  /// W_in x + b, x [40] in shared memory; the bias last, as dense_forward_kernel has it.
  DEVICE void drive(const float* x, float (&sum)[owned]) const {
    UNROLL for (int o = 0; o < owned; ++o) sum[o] = 0.0f;
    UNROLL_ALL for (int i = 0; i < snapshot_features; i += 4) {
      const float4 v = *reinterpret_cast<const float4*>(x + i);
      UNROLL for (int o = 0; o < owned; ++o) {
        sum[o] += v.x * value[i][o];
        sum[o] += v.y * value[i + 1][o];
        sum[o] += v.z * value[i + 2][o];
        sum[o] += v.w * value[i + 3][o];
      }
    }
    UNROLL for (int o = 0; o < owned; ++o) sum[o] += value[snapshot_features][o];
  }
};

/// A short vector on its way to shared memory through registers: the loads start here and are waited for in store(), so
/// that those of several vectors are under way at once.
template <class T, int capacity>
class BlockLoad {
 public:
  template <class From>
  DEVICE BlockLoad(From from, int n) {
    UNROLL_ALL for (int o = 0; o < Items::count; ++o) value_[o] = Items::item(o) < n ? from[Items::item(o)] : T(0);
  }
  template <class To>
  DEVICE void store(To to) const {
    UNROLL_ALL for (int o = 0; o < Items::count; ++o) if (Items::exists(Items::item(o))) to[Items::item(o)] = value_[o];
  }

 private:
  using Items = OwnedItems<capacity, cfc_threads>;
  T value_[Items::count];
};

/// Looks at a slot again and again. A look is one trip over the bus, for the slot and for the word with which the host
/// asks to leave, and one barrier; the clock, which costs as much, is read now and then.
class SlotWatch {
 public:
  DEVICE SlotWatch(const MappedSlot<Mbp10RawInput>& slot, const uint32_t* asked, int64_t idle_ns)
      : slot_(slot), asked_(asked), idle_(static_cast<uint64_t>(idle_ns)) {}

  /// Sends for what is there now: what await() sees first. Work done in between costs no time.
  DEVICE void send() {
    UNROLL for (int k = 0; k < held; ++k) if (Words::exists(Words::item(k))) tagged_[k] =
        load_bus_word(&slot_.tagged[Words::item(k)]);
    if (is_last()) asked_word_ = load_bus_word(asked_);
  }

  /// Waits for a snapshot newer than the last, into shared memory; false when it is time to leave: the host asked, or
  /// nothing came for too long.
  DEVICE bool await(Mbp10RawInput& taken, LiveCounts& counts) {
    SHARED_ARRAY(uint32_t, leave, 2);  // in turns, so that one barrier a look is enough
    SHARED_ARRAY(uint32_t, sequence, 2);
    AnyWord* to = reinterpret_cast<AnyWord*>(&taken);
    uint64_t since = 0;
    for (uint32_t look = 1;; ++look) {
      const int turn = static_cast<int>(look % 2);
      bool newer = false, same = true;
      UNROLL for (int k = 0; k < held; ++k) {
        const int i = Words::item(k);
        if (!Words::exists(i)) break;
        const uint32_t tag = static_cast<uint32_t>(tagged_[k] >> 32);
        to[i] = static_cast<uint32_t>(tagged_[k]);
        newer = newer || tag != counts.sequence;
        if (i == 0) sequence[turn] = tag;
      }
      if (is_last()) leave[turn] = asked_word_ != 0 || is_idle(look, since);
      const bool something_new = block_any(newer);
      if (leave[turn] != 0) return false;
      if (something_new) {
        const uint32_t first = sequence[turn];
        UNROLL for (int k = 0; k < held; ++k) if (Words::exists(Words::item(k))) same =
            same && static_cast<uint32_t>(tagged_[k] >> 32) == first;
        if (block_all(same && first != counts.sequence)) {
          counts.take(first);
          return true;
        }
        ++counts.torn;  // a writer was at it
      }
      wait_a_moment();
      send();
    }
  }

 private:
  static constexpr int words = slot_words<Mbp10RawInput>;
  using Words = OwnedItems<words, cfc_threads>;
  static constexpr int held = Words::count;
  DEVICE static bool is_last() { return threadIdx.x + 1 == blockDim.x; }
  DEVICE bool is_idle(uint32_t look, uint64_t& since) const {
    constexpr uint32_t looks_a_time = 64;
    if (look % looks_a_time != 0) return false;
    const uint64_t now = nanoseconds_now();
    if (since == 0) since = now;
    return now - since >= idle_;
  }

  const MappedSlot<Mbp10RawInput>& slot_;
  const uint32_t* asked_;
  uint64_t idle_, tagged_[held] = {};
  uint32_t asked_word_ = 0;
};

/// Heads of the state, and the answer into its slot. All in shared memory but the slot.
DEVICE void answer(const float* state, const float* projector, const float* heads, int hidden, const LiveCounts& counts,
                   MappedSlot<Prediction>& slot) {
  SHARED_ARRAY(float, projection, alpha_projections);
  const Tile tile;
  constexpr int count = alpha_projections / tiles_in(cfc_threads);
  for (int first = tile.rank() * count; first < alpha_projections; first += tile.tiles() * count) {
    float p[count];
    project(tile, state, projector, hidden, first, p);
    if (tile.lane == 0) UNROLL for (int k = 0; k < count; ++k) projection[first + k] = p[k];
  }
  __syncthreads();
  for (int i : thread_stride(slot_words<Prediction>)) {
    const float logit = i < alpha_horizons ? logit_of(projection, heads, i) : 0.0f;
    store_word(slot, i, answer_word(i, logit, projection, counts), counts.answers);
  }
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(cfc_threads, 1)
    serve_snapshots_kernel(const MappedSlot<Mbp10RawInput>* __restrict__ slot, const float* __restrict__ input,
                           const float* __restrict__ recurrent, const float* __restrict__ projector,
                           const float* __restrict__ heads, const uint32_t* __restrict__ asked,
                           Mbp10RawInput* __restrict__ now, float* __restrict__ features, float* __restrict__ state,
                           uint32_t* __restrict__ live, MappedSlot<Prediction>* __restrict__ answers,
                           uint32_t* __restrict__ left, int hidden, float tau_min, int64_t tick, int snapshots,
                           int64_t idle_ns) {
  if (blockIdx.x != 0) return;
  SHARED_ARRAY(Mbp10RawInput, book, 2);  // the last one and the next, in turns
  SHARED_ARRAY(float, x, snapshot_features);
  SHARED_ARRAY(Row, h, 1);
  constexpr int projector_weights = (max_hidden + 1) * alpha_projections;
  constexpr int heads_weights = (alpha_projections + 1) * alpha_horizons;
  SHARED_ARRAY(float, projector_weight, projector_weights);
  SHARED_ARRAY(float, heads_weight, heads_weights);
  constexpr int words = slot_words<Mbp10RawInput>;
  SlotWatch watch(*slot, asked, idle_ns);
  watch.send();
  const BlockLoad<float, projector_weights> projector_load(projector, (hidden + 1) * alpha_projections);
  const BlockLoad<float, heads_weights> heads_load(heads, heads_weights);
  const BlockLoad<float, max_hidden> state_load(state, hidden);
  const BlockLoad<float, snapshot_features> features_load(features, snapshot_features);
  const BlockLoad<uint32_t, words> now_load(reinterpret_cast<const AnyWord*>(now), words);
  LiveCounts counts(live);
  const InputWeights input_weight(input, hidden);
  const Weights weight(recurrent, hidden, false);
  float tau[owned];
  time_constants(recurrent + hidden * hidden, hidden, tau_min, tau);
  projector_load.store(projector_weight);
  heads_load.store(heads_weight);
  state_load.store(h[0]);
  features_load.store(x);
  now_load.store(reinterpret_cast<AnyWord*>(&book[0]));
  __syncthreads();
  int served = 0;
  for (; served < snapshots; ++served) {
    const Mbp10RawInput& before = book[served % 2];
    Mbp10RawInput& taken = book[(served + 1) % 2];
    float recurrence[1][owned], drive[owned];
    multiply(h, weight, recurrence);
    if (served > 0) watch.send();  // not before the answer: its own loads would wait for this one
    if (!watch.await(taken, counts)) break;
    snapshot_row_by_block(taken, before, static_cast<float>(tick), x);
    if (taken.first) {  // nothing of the session before
      for (int j : thread_stride(max_hidden)) h[0][j] = 0.0f;
      __syncthreads();
      multiply(h, weight, recurrence);
    }
    __syncthreads();
    input_weight.drive(x, drive);
    UNROLL for (int o = 0; o < owned; ++o) {
      const int j = Columns::item(o);
      if (j >= hidden) break;
      h[0][j] = step_cell(h[0][j], drive[o], recurrence[0][o], Mix(taken.seconds, tau[o]));
    }
    __syncthreads();
    ++counts.answers;
    answer(h[0], projector_weight, heads_weight, hidden, counts, *answers);
  }
  __syncthreads();
  for (int j : thread_stride(hidden)) state[j] = h[0][j];
  copy_by_block(book[served % 2], *now);
  for (int i : thread_stride(snapshot_features)) features[i] = x[i];
  if (threadIdx.x == 0) {
    counts.store(live);
    store_release(left, 1);
  }
}
