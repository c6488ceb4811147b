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

/// This thread's columns of W_in and b.
struct InputWeights {
  float value[ServedWeights::recurrent][owned];
  DEVICE explicit InputWeights(const ServedWeights& served) { load_rows(served, ServedWeights::input, value); }
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
    UNROLL for (int o = 0; o < owned; ++o) sum[o] += value[ServedWeights::bias][o];
  }
};

/// What is on its way from memory to shared memory, through registers: the loads start here and are waited for in
/// store(), so that those of several are under way at once.
template <class T, int capacity>
class BlockLoad {
 public:
  DEVICE explicit BlockLoad(const void* from, int n = capacity) {
    UNROLL_ALL for (int o = 0; o < Items::count; ++o) {
      const int i = Items::item(o);
      value_[o] = i < n && Items::exists(i) ? static_cast<const T*>(from)[i] : T{};
    }
  }
  DEVICE void store(void* to) const {
    UNROLL_ALL for (int o = 0; o < Items::count; ++o) {
      const int i = Items::item(o);
      if (Items::exists(i)) static_cast<T*>(to)[i] = value_[o];
    }
  }

 private:
  using Items = OwnedItems<capacity, cfc_threads>;
  T value_[Items::count];
};

/// Looks at a slot again and again. A look is one trip over the bus, for the slot and for the words with which the host
/// asks to leave, and one barrier where all of the next snapshot is there.
class SlotWatch {
 public:
  /// Sends for what is there now: what await() sees first. There has to be a barrier before that.
  DEVICE SlotWatch(const MappedSlot<Mbp10RawInput>& slot, const uint64_t* asked, int64_t idle_ns)
      : slot_(slot), asked_(asked), idle_(static_cast<uint64_t>(idle_ns)), first_look_(slot.tagged, asked) {}

  /// The first look has arrived.
  DEVICE void take_first_look() { first_look_.get(word_); }
  DEVICE void send() {
    UNROLL for (int k = 0; k < held; ++k) {
      const int i = Words::item(k);
      if (Words::exists(i)) word_[k] = load_bus_word(i < slot_words_ ? slot_.tagged + i : asked_ + (i - slot_words_));
    }
  }

  /// Waits for a snapshot newer than the last, into shared memory; false when it is time to leave: the host asked, or
  /// nothing came for too long.
  DEVICE bool await(Mbp10RawInput& taken, LiveCounts& counts) {
    SHARED_ARRAY(uint32_t, leave, 1);
    SHARED_ARRAY(uint32_t, sequence, 1);
    AnyWord* to = reinterpret_cast<AnyWord*>(&taken);
    const uint32_t next = counts.sequence + 1;
    uint64_t since = 0;
    for (uint32_t look = 1;; ++look) {
      bool is_next = true, newer = false, same = true;
      UNROLL for (int k = 0; k < held; ++k) {
        const int i = Words::item(k);
        if (i < slot_words_) {
          to[i] = static_cast<uint32_t>(word_[k]);
          is_next = is_next && tag(k) == next, newer = newer || tag(k) != counts.sequence;
        }
        if (i == 0) sequence[0] = tag(k);
        if (i == slot_words_) {
          leave[0] = word_[k] != 0 || is_idle(look, since);
          is_next = is_next && word_[k] == 0;
        }
      }
      if (block_all(is_next)) {
        counts.take(next);
        return true;
      }
      const bool leaves = leave[0] != 0;
      const uint32_t first = sequence[0];
      newer = block_any(newer);
      if (leaves) return false;
      if (newer) {  // one that others came before, or a writer is at it
        UNROLL for (int k = 0; k < held; ++k) if (Words::item(k) < slot_words_) same = same && tag(k) == first;
        if (block_all(same)) {
          counts.take(first);
          return true;
        }
        ++counts.torn;
      }
      wait_a_moment();
      send();
    }
  }

 private:
  static constexpr int slot_words_ = slot_words<Mbp10RawInput>;
  using FirstLook = BusFetch<slot_words_, asked_words, cfc_threads>;
  using Words = FirstLook::Words;
  static constexpr int held = Words::count;
  DEVICE uint32_t tag(int k) const { return static_cast<uint32_t>(word_[k] >> 32); }
  DEVICE bool is_idle(uint32_t look, uint64_t& since) const {
    constexpr uint32_t looks_a_time = 64;
    if (look % looks_a_time != 0) return false;
    const uint64_t now = nanoseconds_now();
    if (since == 0) since = now;
    return now - since >= idle_;
  }

  const MappedSlot<Mbp10RawInput>& slot_;
  const uint64_t* asked_;
  uint64_t idle_, word_[held] = {};
  FirstLook first_look_;
};

/// Heads of the state, and the answer into its slot. All in shared memory but the slot. The sums are project()'s.
DEVICE void answer(const float* state, const ServedWeights::Heads& weights, const LiveCounts& counts,
                   MappedSlot<Prediction>& slot) {
  SHARED_ARRAY(float, projection, alpha_projections);
  const Tile tile;
  constexpr int count = alpha_projections / tiles_in(cfc_threads);
  for (int first = tile.rank() * count; first < alpha_projections; first += tile.tiles() * count) {
    float p[count] = {};
    for (int i : tile.over(max_hidden))
      UNROLL for (int k = 0; k < count; ++k) p[k] += state[i] * weights.projector[first + k][i];
    UNROLL for (int k = 0; k < count; ++k) p[k] = tanhf(tile.sum(p[k]) + weights.projector_bias[first + k]);
    if (tile.lane == 0) UNROLL for (int k = 0; k < count; ++k) projection[first + k] = p[k];
  }
  __syncthreads();
  for (int i : thread_stride(slot_words<Prediction>)) {
    const float logit = logit_of(projection, weights.heads, i < alpha_horizons ? i : 0);
    store_word(slot, i, answer_word(i, logit, projection, counts), counts.answers);
  }
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(cfc_threads, 1)
    serve_snapshots_kernel(const MappedSlot<Mbp10RawInput>* __restrict__ slot,
                           const ServedWeights* __restrict__ weights, const uint64_t* __restrict__ asked,
                           Mbp10RawInput* __restrict__ now, float* __restrict__ features, float* __restrict__ state,
                           uint32_t* __restrict__ live, MappedSlot<Prediction>* __restrict__ answers,
                           uint32_t* __restrict__ left, int hidden, float tau_min, int64_t tick, int snapshots,
                           int64_t idle_ns) {
  if (blockIdx.x != 0) return;
  BLOCK_IS_EXACTLY(cfc_threads);
  SHARED_ARRAY(Mbp10RawInput, book, 2);  // the last one and the next, in turns
  SHARED_ARRAY(float, x, snapshot_features);
  SHARED_ARRAY(Row, h, 1);
  SHARED_ARRAY(ServedWeights::Heads, heads, 1);
  // The snapshot that is there, the only one of a graph, is on its way first: W_rec h is made while it comes.
  SlotWatch watch(*slot, asked, idle_ns);
  LOADS_SO_FAR_FIRST();
  LiveCounts counts(live);
  const BlockLoad<float, max_hidden> state_load(state, hidden);
  const BlockLoad<float4, sizeof(Mbp10RawInput) / sizeof(float4)> now_load(now);
  float rate[owned], recurrence[1][owned];
  UNROLL for (int o = 0; o < owned; ++o) rate[o] = weights->theta[Columns::item(o)];
  LOADS_SO_FAR_FIRST();
  const Weights weight(*weights);
  const InputWeights input_weight(*weights);
  copy_to_shared(heads[0], weights->heads);
  LOADS_SO_FAR_FIRST();
  state_load.store(h[0]);
  now_load.store(&book[0]);
  UNROLL for (float& r : rate) r = rate_of(r, tau_min);
  __syncthreads();
  multiply(h, weight, recurrence);
  copies_arrived();
  watch.take_first_look();
  int served = 0;
  while (true) {
    const Mbp10RawInput& before = book[served % 2];
    Mbp10RawInput& taken = book[(served + 1) % 2];
    if (!watch.await(taken, counts)) break;
    snapshot_row_by_block(taken, before, static_cast<float>(tick), x);
    if (taken.first) {  // nothing of the session before
      for (int j : thread_stride(max_hidden)) h[0][j] = 0.0f;
      UNROLL for (auto& sum : recurrence[0]) sum = 0.0f;
    }
    __syncthreads();
    float drive[owned];
    input_weight.drive(x, drive);
    UNROLL for (int o = 0; o < owned; ++o) {
      const int j = Columns::item(o);
      if (!Columns::exists(j)) break;
      h[0][j] = step_cell(h[0][j], drive[o], recurrence[0][o], Mix(taken.seconds, rate[o]));
    }
    __syncthreads();
    ++counts.answers;
    answer(h[0], heads[0], counts, *answers);
    if (++served >= snapshots) break;
    watch.send();  // not before the answer: its own loads would wait for this one
    multiply(h, weight, recurrence);
  }
  __syncthreads();
  for (int j : thread_stride(hidden)) state[j] = h[0][j];
  copy_by_block(book[served % 2], *now);
  if (served > 0)
    for (int i : thread_stride(snapshot_features)) features[i] = x[i];
  __syncthreads();  // all of it is there for who sees that the kernel left
  if (threadIdx.x == 0) {
    counts.store(live);
    store_release(left, 1);
  }
}
