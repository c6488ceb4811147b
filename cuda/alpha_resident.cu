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

/// When the kernel has to go: the host asked, or nothing came for too long. The last thread looks, and its load is on
/// the bus together with those of the slot.
class Leave {
 public:
  DEVICE Leave(const uint32_t* asked, int64_t idle_ns) : asked_(asked), idle_(static_cast<uint64_t>(idle_ns)) {}
  DEVICE void begin_waiting() { since_ = nanoseconds_now(); }
  DEVICE void look() {
    if (threadIdx.x + 1 == blockDim.x) word_ = load_bus_word(asked_);
  }
  DEVICE bool was_asked() const { return !block_all(word_ == 0); }
  DEVICE bool idle() const { return !block_all(threadIdx.x + 1 != blockDim.x || nanoseconds_now() - since_ < idle_); }

 private:
  const uint32_t* asked_;
  uint64_t idle_, since_ = 0;
  uint32_t word_ = 0;
};

/// Waits for a snapshot newer than the last; false when it is time to leave.
DEVICE bool await_snapshot(const MappedSlot<Mbp10RawInput>& slot, Mbp10RawInput& taken, LiveCounts& counts,
                           Leave& leave) {
  leave.begin_waiting();
  for (;;) {
    uint32_t sequence;
    leave.look();
    const bool whole = read_slot(slot, taken, sequence);
    if (leave.was_asked()) return false;
    if (whole && sequence != counts.sequence) {
      counts.take(sequence);
      return true;
    }
    counts.torn += whole ? 0 : 1;
    if (leave.idle()) return false;
    wait_a_moment();
  }
}

/// Heads of the state, and the answer into its slot.
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
  const Weights weight(recurrent, hidden, false);
  const InputWeights input_weight(input, hidden);
  float tau[owned];
  time_constants(recurrent + hidden * hidden, hidden, tau_min, tau);
  for (int j : thread_stride(max_hidden)) h[0][j] = j < hidden ? state[j] : 0.0f;
  copy_by_block(*now, book[0]);
  for (int i : thread_stride(snapshot_features)) x[i] = features[i];
  LiveCounts counts(live);
  Leave leave(asked, idle_ns);
  int served = 0;
  for (; served < snapshots; ++served) {
    const Mbp10RawInput& before = book[served % 2];
    Mbp10RawInput& taken = book[(served + 1) % 2];
    __syncthreads();
    float recurrence[1][owned], drive[owned];
    multiply(h, weight, recurrence);
    if (!await_snapshot(*slot, taken, counts, leave)) break;
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
      h[0][j] = step_cell(h[0][j], drive[o], recurrence[0][o], taken.seconds, tau[o]);
    }
    __syncthreads();
    ++counts.answers;
    answer(h[0], projector, heads, hidden, counts, *answers);
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
