#pragma once
// The catalogue's second half: the alpha model (DESIGN 10). Included by core/kernels.h, whose table states how each
// kernel is launched.
#include <cstdint>

namespace foxhunt {

inline constexpr int book_levels = 10;
inline constexpr int snapshot_features = 40;
inline constexpr int alpha_horizons = 5;     ///< probabilities of multi_horizon_heads
inline constexpr int alpha_projections = 8;  ///< numbers of projection, each within [-1, 1]
inline constexpr int max_hidden = 128;       ///< widest CfC trunk: a thread keeps a column of W_rec in registers

inline constexpr std::uint8_t no_label = 255;  ///< of a tie, or where there is nothing to predict

/// An undefined price, as DBN writes it.
inline constexpr std::int64_t undefined_price = INT64_MAX;

/// One level of both sides, laid out as in DBN. A side is there when it has a price and a size.
struct Mbp10Level {
  std::int64_t bid, ask;               ///< 1e-9 points; undefined_price where the level is not there
  std::uint32_t bid_size, ask_size;    ///< contracts
  std::uint32_t bid_count, ask_count;  ///< orders
};

/// A book snapshot as it arrives.
struct alignas(16) Mbp10RawInput {
  Mbp10Level level[book_levels];          ///< best first
  std::int64_t ts;                        ///< UTC ns at which it is known
  std::int64_t trade_price;               ///< 1e-9 points, last trade at or before it; undefined_price before the first
  std::uint32_t buy_volume, sell_volume;  ///< contracts bought and sold by aggressors since the snapshot before
  float seconds;                          ///< since the snapshot before; 0 for the first of a session
  std::uint32_t first;                    ///< 1: the first of its session or instrument, with nothing before it
};
static_assert(sizeof(Mbp10RawInput) == 352);

/// The trunk's parameters as serve_snapshots_kernel loads them: for each column of the state four rows beside each
/// other, so that a load is 16 bytes and those of neighbouring threads touch; zero beyond the trunk's width.
struct alignas(16) ServedWeights {
  enum Row : int { input = 0, bias = snapshot_features, recurrent = 44, rows = recurrent + max_hidden };
  struct alignas(16) Heads {
    float projector[alpha_projections][max_hidden];
    float projector_bias[alpha_projections];
    float heads[48];  ///< [9, 5], and three zeros
  };
  float column[rows / 4][max_hidden][4];
  float theta[max_hidden];
  Heads heads;
};

/// An execution, as a live trader reports it beside the model.
struct Fill {
  std::int64_t ts;         ///< UTC ns
  std::int64_t price;      ///< 1e-9 points
  std::int32_t contracts;  ///< bought, or sold where negative
  std::int32_t position;   ///< contracts held after it, negative when short
};

/// What the fills so far add up to. Costs are not among it.
struct LivePosition {
  std::int64_t ts;         ///< of the last fill, UTC ns
  double average_price;    ///< of what is held, points; 0 when flat
  double realised;         ///< points times contracts, of what was closed
  std::int32_t contracts;  ///< held, negative when short
  std::uint32_t sequence;  ///< of the last fill's slot
  std::uint32_t torn;      ///< reads of the slot that met a writer
  std::uint32_t missed;    ///< fills that another one had replaced before they were read
};

/// A value in mapped memory that one side writes while the other reads. Every word of it carries the value's sequence
/// and is stored and loaded together with it, as 64 bits: a read whose sequences are all the same is whole, and it took
/// one trip over the bus with no fence on either side (as NCCL's low-latency protocol does). Sequences count up from 1;
/// 0: nothing was ever written.
template <class T>
struct alignas(128) MappedSlot {
  static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
  std::uint64_t tagged[sizeof(T) / sizeof(std::uint32_t)];  ///< word | sequence << 32
};

/// Words in mapped memory with which the host asks a kernel to leave: the first, when it is not 0. The copy engine
/// takes no fewer.
inline constexpr int asked_words = 2;

/// What the live path answers to a snapshot.
struct Prediction {
  float probability[alpha_horizons];  ///< that the mid is higher after each horizon
  float projection[alpha_projections];
  std::uint32_t snapshot;  ///< sequence of the slot that it answers to
  std::uint32_t torn;      ///< reads of the slot that met a writer, since the start
  std::uint32_t missed;    ///< snapshots that another one had replaced before they were read, since the start
};

}  // namespace foxhunt

// ---- snapshot_features.cu ----

/// features [rows, 40] of input [rows]; the snapshot before input[0] is before[0]. All within [-1, 1] and finite
/// whatever the book: see core/alpha/snapshot_features.h for the list. tick: 1e-9 points.
KERNEL void snap_feature_assemble_kernel(const foxhunt::Mbp10RawInput* __restrict__ before,
                                         const foxhunt::Mbp10RawInput* __restrict__ input, float* __restrict__ features,
                                         int rows, std::int64_t tick);

// `live` [4] counts: sequence taken, torn reads, snapshots missed, answers published.

/// One block. Takes a new snapshot from a mapped slot: before[0] = now[0], then now[0] = the slot's value, read again
/// when a writer was met, at most 1,000 times; with nothing new, both stay. seconds [1] of it, 0 with nothing new;
/// state [hidden] is cleared at the first snapshot of a session.
KERNEL void take_snapshot_kernel(const foxhunt::MappedSlot<foxhunt::Mbp10RawInput>* __restrict__ slot,
                                 foxhunt::Mbp10RawInput* __restrict__ before, foxhunt::Mbp10RawInput* __restrict__ now,
                                 float* __restrict__ seconds, float* __restrict__ state,
                                 std::uint32_t* __restrict__ live, int hidden);
/// One block. state [hidden] = next [hidden]; answers into a mapped slot: the logits' probabilities, the projection and
/// the counts.
KERNEL void publish_prediction_kernel(const float* __restrict__ logits, const float* __restrict__ projection,
                                      const float* __restrict__ next, std::uint32_t* __restrict__ live,
                                      float* __restrict__ state,
                                      foxhunt::MappedSlot<foxhunt::Prediction>* __restrict__ slot, int hidden);
/// One block. Adds a new fill of a mapped slot, read as take_snapshot_kernel reads, to position [1].
KERNEL void take_fill_kernel(const foxhunt::MappedSlot<foxhunt::Fill>* __restrict__ slot,
                             foxhunt::LivePosition* __restrict__ position);
/// One block: all of the live path, the same bits as its kernels one by one. Waits for a new snapshot, answers, and so
/// on up to `snapshots` times; leaves when asked[0] of asked [2], in mapped memory, is not 0, even with a new snapshot
/// there, or after idle_ns without one. now [1], features [40], state [hidden] and live are those of the last snapshot,
/// read at the start and written at the end, before left[0] = 1.
KERNEL void serve_snapshots_kernel(const foxhunt::MappedSlot<foxhunt::Mbp10RawInput>* __restrict__ slot,
                                   const foxhunt::ServedWeights* __restrict__ weights,
                                   const std::uint64_t* __restrict__ asked, foxhunt::Mbp10RawInput* __restrict__ now,
                                   float* __restrict__ features, float* __restrict__ state,
                                   std::uint32_t* __restrict__ live,
                                   foxhunt::MappedSlot<foxhunt::Prediction>* __restrict__ answers,
                                   std::uint32_t* __restrict__ left, int hidden, float tau_min, std::int64_t tick,
                                   int snapshots, std::int64_t idle_ns);
/// Draws the first row of each window: starts [windows] from rows [count], a fresh choice an iteration.
KERNEL void sample_windows_kernel(const std::int32_t* __restrict__ rows, const std::uint32_t* __restrict__ counters,
                                  std::int32_t* __restrict__ starts, int count, int windows, std::uint64_t seed);
/// Windows of `steps` rows from a table: features [rows, 40], seconds [rows], labels [rows, 5] -> x [windows, steps +
/// 1, 40], dt [windows, steps + 1], with zeros in the last rows, and y [windows, steps + 1, 5]: the labels of step s in
/// row s + 1, where the state after it is, and nothing (masked) in row 0.
KERNEL void gather_windows_kernel(const float* __restrict__ features, const float* __restrict__ seconds,
                                  const std::uint8_t* __restrict__ labels, const std::int32_t* __restrict__ starts,
                                  float* __restrict__ x, float* __restrict__ dt, std::uint8_t* __restrict__ y, int rows,
                                  int windows, int steps);
/// Windows in order, for a state that is carried: of the ring rows [count], first rows of windows in time order, window
/// w walks its own arc, from place w * count / windows on. Ends an iteration: starts [windows] of the next one, and
/// initial [windows, hidden]: the last row of state [windows, steps + 1, hidden] where continues [count] says 1, that
/// the window there follows on the one before it, and zeros elsewhere. What is not finite is not carried.
KERNEL void next_windows_kernel(const std::int32_t* __restrict__ rows, const std::uint8_t* __restrict__ continues,
                                const std::uint32_t* __restrict__ counters, const float* __restrict__ state,
                                std::int32_t* __restrict__ starts, float* __restrict__ initial, int count, int windows,
                                int steps, int hidden);

// ---- cfc.cu: a closed-form continuous-time cell (Hasani et al. 2022), in the form of DESIGN 10 ----
//
//   h' = h * e^(-dt/tau) + (1 - e^(-dt/tau)) * tanh(W_in x + b + W_rec h),   tau = tau_min + softplus(theta)
//
// recurrent [hidden + 1, hidden] is W_rec with theta as its last row. A window of `steps` snapshots has steps + 1 rows:
// row s of `state` is h before step s, its last row h after the last; of the others row s belongs to step s and the
// last row to none.

/// One step of `rows` cells: drive [rows, hidden] = W_in x + b, seconds [rows], state [rows, hidden] -> next [rows,
/// hidden]. The same arithmetic in the same order as cfc_scan_forward_kernel.
KERNEL void cfc_step_kernel(const float* __restrict__ drive, const float* __restrict__ seconds,
                            const float* __restrict__ recurrent, const float* __restrict__ state,
                            float* __restrict__ next, int rows, int hidden, float tau_min);
/// All steps of all windows. drive [windows, steps + 1, hidden], seconds [windows, steps + 1], initial [windows,
/// hidden] -> state and candidate (the tanh) [windows, steps + 1, hidden].
KERNEL void cfc_scan_forward_kernel(const float* __restrict__ drive, const float* __restrict__ seconds,
                                    const float* __restrict__ recurrent, const float* __restrict__ initial,
                                    float* __restrict__ state, float* __restrict__ candidate, int windows, int steps,
                                    int hidden, float tau_min);
/// Backpropagation through the whole window: d_state [windows, steps + 1, hidden], what the loss wants of each state
/// (row 0 is not read) -> d_drive [windows, steps + 1, hidden], last rows zero, and d_theta [blocks of four windows,
/// hidden], to be added up. The gradient of W_rec is the product of state and d_drive over all rows.
KERNEL void cfc_scan_backward_kernel(const float* __restrict__ d_state, const float* __restrict__ state,
                                     const float* __restrict__ candidate, const float* __restrict__ seconds,
                                     const float* __restrict__ recurrent, float* __restrict__ d_drive,
                                     float* __restrict__ d_theta, int windows, int steps, int hidden, float tau_min);

// ---- alpha_heads.cu ----

/// state [rows, hidden] -> projection [rows, 8] = tanh(state W_p + b_p) and logits [rows, 5] = projection W_h + b_h.
/// projector [hidden + 1, 8], heads [9, 5].
KERNEL void multi_horizon_heads_kernel(const float* __restrict__ state, const float* __restrict__ projector,
                                       const float* __restrict__ heads, float* __restrict__ projection,
                                       float* __restrict__ logits, int rows, int hidden);
/// d_logits [rows, 5] -> d_projected [rows, 8], of the projection before its tanh, and d_state [rows, hidden].
KERNEL void multi_horizon_heads_backward_kernel(const float* __restrict__ d_logits,
                                                const float* __restrict__ projection,
                                                const float* __restrict__ projector, const float* __restrict__ heads,
                                                float* __restrict__ d_projected, float* __restrict__ d_state, int rows,
                                                int hidden);
/// Binary cross-entropy of logits [rows, 5] against labels [rows, 5]: 0 or 1, anything else is masked (a tie, or a row
/// with no label). loss [rows]: sum over its labels; d_logits [rows, 5] times `scale`, zero where masked.
KERNEL void bce_loss_kernel(const float* __restrict__ logits, const std::uint8_t* __restrict__ labels,
                            float* __restrict__ loss, float* __restrict__ d_logits, int rows, float scale);
/// One block. Mean of the losses over the labels that are not masked, to the bus; counts a loss that is not finite.
KERNEL void reduce_bce_kernel(const float* __restrict__ loss, const std::uint8_t* __restrict__ labels,
                              float* __restrict__ isv, std::uint32_t* __restrict__ counters, int rows);
