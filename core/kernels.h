#pragma once
// The catalogue of fixed kernels: every prototype, with shapes, and below them one table that states how each is
// launched. The same prototypes are compiled by nvcc and by the host compiler. The only door to cuda/.
//
// A pointer to const is read, any other is written. `launch` refuses a written span that overlaps another span of the
// same launch, so every pointer may be __restrict__.
#include <cstdint>
#include <functional>
#include <vector>

#include "core/isv_slots.h"

// Files in cuda/ include cuda/device.cuh first, which says what a kernel is to their compiler.
#ifndef KERNEL
#define KERNEL extern "C"
#endif

namespace foxhunt {

inline constexpr int portfolio_width = 8;  ///< numbers of the state that describe the position, all within [-1, 1]
inline constexpr int max_actions = 32;
inline constexpr int max_atoms = 256;
inline constexpr int max_layers = 10;

/// What happened to a stored step.
enum TransitionFlag : std::uint8_t {
  transition_terminal = 1,   ///< the episode ended: no bootstrap
  transition_truncated = 2,  ///< the step limit was reached: bootstrap from the next stored observation
  transition_unused = 4,     ///< not a transition (the step in which an ended episode starts anew): never sampled
};

/// Flags of a market row as the environment needs them.
enum MarketFlag : std::uint8_t { market_last = 1 /* nothing decided at this row can be filled */ };

/// One episode's running state.
struct Episode {
  double equity;     ///< dollars gained since the start of the episode, costs paid
  double gross;      ///< the same without costs
  double peak;       ///< highest equity so far
  float position;    ///< contracts
  float unrealised;  ///< dollars since the position was opened, in its present size
  float last_reward;
  int steps;  ///< since the start of the episode
  int hold;   ///< steps in the present direction
  int trades;
};

struct EnvironmentParams {
  std::uint64_t seed;
  float reward_scale;   ///< dollars per unit of reward
  float risk_aversion;  ///< reward -= risk_aversion * (dollars / reward_scale)^2
  float capital;        ///< dollars
  float ruin_equity;    ///< dollars of gain (negative) at which the episode ends
  float max_contracts;
  int step_limit;
  int n_step;
  int in_order;  ///< 1: episode e starts at start_rows[e] and does not start anew (evaluation)
};

struct ScheduleParams {
  float epsilon_start, epsilon_end;
  int epsilon_iterations;
  float beta_start, beta_end;
  int beta_iterations;
  float learning_rate, final_fraction;
  int warmup_iterations, total_iterations;
  int decay;  ///< 0 constant, 1 linear, 2 cosine
  float c51_weight, cql_weight;
  int min_replay_size;
};

struct AdamParams {
  float beta1, beta2, epsilon, weight_decay, max_grad_norm;
};

/// Where the layers of a network lie in its flat parameter vector: layer i is a matrix [inputs + 1, outputs],
/// row-major at offset[i], the bias its last row.
struct LayerTable {
  int layers;
  int offset[max_layers], inputs[max_layers], outputs[max_layers];
  int spectral[max_layers];  ///< 1: the layer's weights are divided by their largest singular value
};

/// Host target only: the block sizes that this build of the kernels can run. {1}; with threaded blocks {32, 96}.
const std::vector<int>& host_block_sizes();
/// Host target only: runs `kernel`, on every thread of a block of `threads`, as block `block` of `blocks`.
void run_host_block(int threads, unsigned block, unsigned blocks, const std::function<void()>& kernel);

}  // namespace foxhunt

// ---- elementwise.cu ----

/// y *= alpha, in place through one pointer. y [n], alpha [1] on the IsvBus, so that a recorded program follows it.
KERNEL void dqn_scale_f32_kernel(float* __restrict__ y, const float* __restrict__ alpha, int n);
/// y += alpha * x, x distinct from y. y [n], x [n], alpha [1].
KERNEL void dqn_saxpy_f32_kernel(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ alpha,
                                 int n);

// ---- dense.cu: y = act(x W + b), parameters [k + 1, n] with the bias as the last row ----

/// x [m, k], parameters [k + 1, n] -> y [m, n]; relu != 0 clamps negatives, NaN passes.
KERNEL void dense_forward_kernel(const float* __restrict__ x, const float* __restrict__ parameters,
                                 float* __restrict__ y, int m, int n, int k, int relu);
/// dy [m, n], parameters [k + 1, n], x [m, k] (the layer's input, itself a ReLU's output) -> dx [m, k] = dy W^T where x
/// > 0.
KERNEL void dense_backward_data_kernel(const float* __restrict__ dy, const float* __restrict__ parameters,
                                       const float* __restrict__ x, float* __restrict__ dx, int m, int n, int k);
/// x [m, k], dy [m, n] -> one partial gradient [k + 1, n] for each of `splits` runs of rows, `stride` floats apart.
KERNEL void dense_backward_weight_kernel(const float* __restrict__ x, const float* __restrict__ dy,
                                         float* __restrict__ partial, int m, int n, int k, int splits, int stride);
/// gradient [n] = sum over s of partial [splits, n], in the order of s.
KERNEL void reduce_partials_kernel(const float* __restrict__ partial, float* __restrict__ gradient, int n, int splits);

// ---- dueling.cu ----

/// raw [rows, width]: value stream [atoms], advantage stream [actions, atoms], padding up to width.
/// logits [rows, actions, atoms] = V + A - mean over actions of A; q [rows, actions] = E[Z] over support v_min ...
/// v_max.
KERNEL void dueling_forward_kernel(const float* __restrict__ raw, float* __restrict__ logits, float* __restrict__ q,
                                   int rows, int actions, int atoms, int width, float v_min, float v_max);
/// d_logits [rows, actions, atoms] -> d_raw [rows, width], padding zeroed.
KERNEL void dueling_backward_kernel(const float* __restrict__ d_logits, float* __restrict__ d_raw, int rows,
                                    int actions, int atoms, int width);

// ---- distributional_loss.cu ----

/// Double C51 target. next_q [batch, actions] from the online network picks the action, next_logits
/// [batch, actions, atoms] from the target network gives its distribution; r + discount * z is projected onto the
/// support by p_j += p_i * max(0, 1 - |b_i - j|). Also weight [batch] = (min priority / priority)^beta, 0 when this
/// iteration does not learn. target [batch, atoms], target_mean [batch].
KERNEL void project_target_kernel(const float* __restrict__ next_q, const float* __restrict__ next_logits,
                                  const float* __restrict__ returns, const float* __restrict__ discounts,
                                  const float* __restrict__ priorities, const float* __restrict__ isv,
                                  std::uint32_t* __restrict__ counters, float* __restrict__ target,
                                  float* __restrict__ target_mean, float* __restrict__ weight, int batch, int actions,
                                  int atoms, float v_min, float v_max);
/// Cross-entropy of logits[b, action[b]] against target, times weight / batch: loss [batch] (unweighted),
/// d_logits [batch, actions, atoms], zero for the actions not taken.
KERNEL void c51_loss_kernel(const float* __restrict__ logits, const std::int32_t* __restrict__ action,
                            const float* __restrict__ target, const float* __restrict__ weight,
                            float* __restrict__ loss, float* __restrict__ d_logits, int batch, int actions, int atoms);
/// Half squared error of E[Z](s, action) against target_mean, times weight / batch: loss [batch] (unweighted),
/// d_logits [batch, actions, atoms], zero for the actions not taken.
KERNEL void mse_loss_kernel(const float* __restrict__ logits, const float* __restrict__ q,
                            const std::int32_t* __restrict__ action, const float* __restrict__ target_mean,
                            const float* __restrict__ weight, float* __restrict__ loss, float* __restrict__ d_logits,
                            int batch, int actions, int atoms, float v_min, float v_max);
/// Conservative term (Kumar et al. 2020): logsumexp over actions of Q less Q(s, action), times cql_weight * weight /
/// batch: loss [batch] (unweighted), added to d_logits [batch, actions, atoms].
KERNEL void cql_loss_kernel(const float* __restrict__ logits, const float* __restrict__ q,
                            const std::int32_t* __restrict__ action, const float* __restrict__ weight,
                            const float* __restrict__ isv, float* __restrict__ loss, float* __restrict__ d_logits,
                            int batch, int actions, int atoms, float v_min, float v_max);
/// One block. Batch means of the losses and of Q to the bus; td_error [batch] = |blended loss|, for the priorities.
KERNEL void reduce_losses_kernel(const float* __restrict__ c51, const float* __restrict__ mse,
                                 const float* __restrict__ cql, const float* __restrict__ weight,
                                 const float* __restrict__ q, const std::int32_t* __restrict__ action,
                                 const float* __restrict__ target_mean, float* __restrict__ td_error,
                                 float* __restrict__ isv, std::uint32_t* __restrict__ counters, int batch, int actions);

// ---- replay.cu: a ring of `length` steps for each of `episodes` slots, time-major ----

/// priority [leaves] -> sums of 32 (groups), of 1,024 (chunks) and of 32,768 (supers), recomputed from the leaves.
KERNEL void sum_priorities_kernel(const float* __restrict__ priority, float* __restrict__ groups,
                                  float* __restrict__ chunks, float* __restrict__ supers,
                                  std::uint32_t* __restrict__ counters, int leaves);
/// Draws `batch` transitions in proportion to priority (stratified over the supers; one fresh uniform a level, so that
/// small leaves stay reachable in float32) and walks their n-step windows. index, next [batch]: leaf of the transition
/// and of the observation it bootstraps from. returns, discounts, priorities [batch]; action [batch].
KERNEL void sample_transitions_kernel(const float* __restrict__ priority, const float* __restrict__ groups,
                                      const float* __restrict__ chunks, const float* __restrict__ supers,
                                      const float* __restrict__ reward, const std::int32_t* __restrict__ actions,
                                      const std::uint8_t* __restrict__ flags, std::uint32_t* __restrict__ counters,
                                      std::int32_t* __restrict__ index, std::int32_t* __restrict__ next,
                                      std::int32_t* __restrict__ action, float* __restrict__ returns,
                                      float* __restrict__ discounts, float* __restrict__ priorities, int batch,
                                      int episodes, int length, int n_step, float gamma, std::uint64_t seed);
/// priority[index[b]] = (td_error[b] + epsilon)^alpha, unless the update was refused or the leaf was overwritten by
/// this iteration's step.
KERNEL void update_priorities_kernel(const std::int32_t* __restrict__ index, const float* __restrict__ td_error,
                                     float* __restrict__ priority, std::uint32_t* __restrict__ counters, int batch,
                                     int episodes, int length, int leaves, float alpha, float epsilon);

// ---- environment.cu ----

/// Puts every episode at a start row and empties the replay. One thread an episode.
KERNEL void reset_episodes_kernel(const std::int32_t* __restrict__ start_rows, foxhunt::Episode* __restrict__ state,
                                  std::int32_t* __restrict__ row, float* __restrict__ portfolio,
                                  float* __restrict__ priority, std::uint8_t* __restrict__ flags, int starts,
                                  int episodes, int length, foxhunt::EnvironmentParams params);
/// Observations [episodes + 2 * batch, features + portfolio_width]: of the running episodes, of the sampled steps,
/// of their bootstrap steps; looked up by row in table [rows, features].
KERNEL void gather_observations_kernel(const float* __restrict__ table, const std::int32_t* __restrict__ row,
                                       const float* __restrict__ portfolio, const std::int32_t* __restrict__ index,
                                       const std::int32_t* __restrict__ next, std::uint32_t* __restrict__ counters,
                                       float* __restrict__ observation, int episodes, int batch, int length,
                                       int features, int rows);
/// Epsilon-greedy over q [episodes, actions]; first maximum wins; counts the actions.
KERNEL void select_actions_kernel(const float* __restrict__ q, const float* __restrict__ isv,
                                  std::uint32_t* __restrict__ counters, std::int32_t* __restrict__ action, int episodes,
                                  int actions, std::uint64_t seed);
/// One step of every episode (DESIGN 7). Market columns [rows] in dollars per contract: open_gap = M (fill - mid),
/// hold_gap = M (next mid - fill), cost = M half_spread + commission. Writes the step into slot iteration % length and
/// the next observation into the slot after it; gives the step whose n-step window is now complete its first priority.
KERNEL void step_environment_kernel(const float* __restrict__ open_gap, const float* __restrict__ hold_gap,
                                    const float* __restrict__ cost, const std::uint8_t* __restrict__ market_flags,
                                    const std::int32_t* __restrict__ start_rows,
                                    const float* __restrict__ target_positions, const std::int32_t* __restrict__ chosen,
                                    foxhunt::Episode* __restrict__ state, std::int32_t* __restrict__ row,
                                    float* __restrict__ portfolio, std::int32_t* __restrict__ action,
                                    float* __restrict__ reward, std::uint8_t* __restrict__ flags,
                                    float* __restrict__ priority, std::uint32_t* __restrict__ counters, int rows,
                                    int starts, int actions, int episodes, int length,
                                    foxhunt::EnvironmentParams params);

// ---- optimizer.cu ----

/// norm [(n + 1023) / 1024]: sums of squares of gradient by runs of 1,024; counts non-finite gradients, moments and
/// learning rate, parameters above 1e15 and first moments above 2e19 in size, and second moments below zero.
KERNEL void gradient_norm_kernel(const float* __restrict__ gradient, const float* __restrict__ parameters,
                                 const float* __restrict__ moment1, const float* __restrict__ moment2,
                                 const float* __restrict__ isv, float* __restrict__ norm,
                                 std::uint32_t* __restrict__ counters, int n);
/// AdamW with global-norm clip (Loshchilov & Hutter 2019); biases are not decayed. Nothing is written when the
/// iteration does not learn or met a non-finite value.
KERNEL void adamw_kernel(float* __restrict__ parameters, float* __restrict__ moment1, float* __restrict__ moment2,
                         const float* __restrict__ gradient, const float* __restrict__ norm,
                         const std::uint32_t* __restrict__ counters, float* __restrict__ isv, int n,
                         foxhunt::LayerTable layers, foxhunt::AdamParams params);
/// target += tau * (online - target) after every update, or a copy after every `period` updates when period > 0.
KERNEL void update_target_kernel(float* __restrict__ target, const float* __restrict__ online,
                                 const std::uint32_t* __restrict__ counters, int n, float tau, int period);

// ---- spectral_norm.cu (Miyato et al. 2018) ----

/// One block a layer. Power iteration on the layers marked in the table: left [layers, stride] over outputs, right
/// [layers, stride] over inputs, sigma [layers] >= epsilon; 1 for the others.
/// Both leave everything as it is in an iteration that met a non-finite value.
KERNEL void spectral_sigma_kernel(const float* __restrict__ parameters, const std::uint32_t* __restrict__ counters,
                                  float* __restrict__ left, float* __restrict__ right, float* __restrict__ sigma, int n,
                                  int layers_count, int stride, int iterations, float epsilon,
                                  foxhunt::LayerTable layers);
/// effective [n] = weights / sigma of their layer; biases as they are.
KERNEL void spectral_apply_kernel(const float* __restrict__ parameters, const float* __restrict__ sigma,
                                  const std::uint32_t* __restrict__ counters, float* __restrict__ effective, int n,
                                  int layers_count, foxhunt::LayerTable layers);
/// One block a layer. gradient [n] with respect to effective becomes that with respect to the weights:
/// (G - <G, W_eff> u v^T) / sigma.
KERNEL void spectral_backward_kernel(float* __restrict__ gradient, const float* __restrict__ effective,
                                     const float* __restrict__ left, const float* __restrict__ right,
                                     const float* __restrict__ sigma, int n, int layers_count, int stride,
                                     float epsilon, foxhunt::LayerTable layers);

// ---- iteration.cu ----

/// One thread. Writes the schedules of this iteration to the bus, clears its counters, decides whether it learns.
KERNEL void begin_iteration_kernel(float* __restrict__ isv, std::uint32_t* __restrict__ counters, int episodes,
                                   int length, int n_step, foxhunt::ScheduleParams params);
/// One block. Ends the iteration: reward mean, action entropy, trips, counters; copies bus and counters to `health`
/// [isv slots + counters] in mapped memory for the host.
KERNEL void end_iteration_kernel(const float* __restrict__ reward, float* __restrict__ isv,
                                 std::uint32_t* __restrict__ counters, std::uint32_t* __restrict__ health, int episodes,
                                 int length);

#include "core/alpha_kernels.h"

// How each kernel is launched: X(kernel, threads a block, what one work item takes, number of work items, arguments).
// Work items and sizes are expressions over the integer arguments; "/" rounds up. The grid is the work divided by what
// a block carries, capped by what the device keeps resident; every kernel is right for any grid, and all but those of a
// fixed_block for any number of warps a block up to the stated one.
#define FOXHUNT_KERNELS(X)                                                                                             \
  X(dqn_scale_f32_kernel, 256, thread, "n", "y[n], alpha[1], n")                                                       \
  X(dqn_saxpy_f32_kernel, 256, thread, "n", "y[n], x[n], alpha[1], n")                                                 \
  X(dense_forward_kernel, 64, fixed_block, "(m/64)*(n/64)", "x[m*k], parameters[(k+1)*n], y[m*n], m, n, k, relu")      \
  X(dense_backward_data_kernel, 64, fixed_block, "(m/64)*(k/64)",                                                      \
    "dy[m*n], parameters[(k+1)*n], x[m*k], dx[m*k], m, n, k")                                                          \
  X(dense_backward_weight_kernel, 64, fixed_block, "(k/64)*(n/64)*splits",                                             \
    "x[m*k], dy[m*n], partial[(splits-1)*stride+(k+1)*n], m, n, k, splits, stride")                                    \
  X(reduce_partials_kernel, 256, thread, "n", "partial[splits*n], gradient[n], n, splits")                             \
  X(dueling_forward_kernel, 128, tile, "rows",                                                                         \
    "raw[rows*width], logits[rows*actions*atoms], q[rows*actions], rows, actions, atoms, width, v_min, v_max")         \
  X(dueling_backward_kernel, 128, tile, "rows",                                                                        \
    "d_logits[rows*actions*atoms], d_raw[rows*width], rows, actions, atoms, width")                                    \
  X(project_target_kernel, 128, tile, "batch",                                                                         \
    "next_q[batch*actions], next_logits[batch*actions*atoms], returns[batch], discounts[batch], priorities[batch], "   \
    "isv[18], counters[42], target[batch*atoms], target_mean[batch], weight[batch], batch, actions, atoms, v_min, "    \
    "v_max")                                                                                                           \
  X(c51_loss_kernel, 128, tile, "batch",                                                                               \
    "logits[batch*actions*atoms], action[batch], target[batch*atoms], weight[batch], loss[batch], "                    \
    "d_logits[batch*actions*atoms], batch, actions, atoms")                                                            \
  X(mse_loss_kernel, 128, tile, "batch",                                                                               \
    "logits[batch*actions*atoms], q[batch*actions], action[batch], target_mean[batch], weight[batch], loss[batch], "   \
    "d_logits[batch*actions*atoms], batch, actions, atoms, v_min, v_max")                                              \
  X(cql_loss_kernel, 128, tile, "batch",                                                                               \
    "logits[batch*actions*atoms], q[batch*actions], action[batch], weight[batch], isv[18], loss[batch], "              \
    "d_logits[batch*actions*atoms], batch, actions, atoms, v_min, v_max")                                              \
  X(reduce_losses_kernel, 1024, block, "1",                                                                            \
    "c51[batch], mse[batch], cql[batch], weight[batch], q[batch*actions], action[batch], target_mean[batch], "         \
    "td_error[batch], isv[18], counters[42], batch, actions")                                                          \
  X(sum_priorities_kernel, 1024, block, "leaves/32768",                                                                \
    "priority[leaves], groups[leaves/32], chunks[leaves/1024], supers[leaves/32768], counters[42], leaves")            \
  X(sample_transitions_kernel, 128, tile, "batch",                                                                     \
    "priority[episodes*length], groups[episodes*length/32], chunks[episodes*length/1024], "                            \
    "supers[episodes*length/32768], reward[episodes*length], actions[episodes*length], flags[episodes*length], "       \
    "counters[42], index[batch], next[batch], action[batch], returns[batch], discounts[batch], priorities[batch], "    \
    "batch, episodes, length, n_step, gamma, seed")                                                                    \
  X(update_priorities_kernel, 256, thread, "batch",                                                                    \
    "index[batch], td_error[batch], priority[leaves], counters[42], batch, episodes, length, leaves, alpha, epsilon")  \
  X(reset_episodes_kernel, 128, thread, "episodes",                                                                    \
    "start_rows[starts], state[episodes], row[episodes*length], portfolio[episodes*length*8], "                        \
    "priority[episodes*length], "                                                                                      \
    "flags[episodes*length], starts, episodes, length, params")                                                        \
  X(gather_observations_kernel, 256, thread, "(episodes+2*batch)*(features+8)",                                        \
    "table[rows*features], row[episodes*length], portfolio[episodes*length*8], index[batch], next[batch], "            \
    "counters[42], observation[(episodes+2*batch)*(features+8)], episodes, batch, length, features, rows")             \
  X(select_actions_kernel, 128, thread, "episodes",                                                                    \
    "q[episodes*actions], isv[18], counters[42], action[episodes], episodes, actions, seed")                           \
  X(step_environment_kernel, 64, thread, "episodes",                                                                   \
    "open_gap[rows], hold_gap[rows], cost[rows], market_flags[rows], start_rows[starts], target_positions[actions], "  \
    "chosen[episodes], state[episodes], row[episodes*length], portfolio[episodes*length*8], action[episodes*length], " \
    "reward[episodes*length], flags[episodes*length], priority[episodes*length], counters[42], rows, starts, "         \
    "actions, "                                                                                                        \
    "episodes, length, params")                                                                                        \
  X(gradient_norm_kernel, 256, block, "n/1024",                                                                        \
    "gradient[n], parameters[n], moment1[n], moment2[n], isv[18], norm[n/1024], counters[42], n")                      \
  X(adamw_kernel, 256, thread, "n",                                                                                    \
    "parameters[n], moment1[n], moment2[n], gradient[n], norm[n/1024], counters[42], isv[18], n, layers, params")      \
  X(update_target_kernel, 256, thread, "n", "target[n], online[n], counters[42], n, tau, period")                      \
  X(spectral_sigma_kernel, 1024, block, "layers_count",                                                                \
    "parameters[n], counters[42], left[layers_count*stride], right[layers_count*stride], sigma[layers_count], n, "     \
    "layers_count, "                                                                                                   \
    "stride, iterations, epsilon, layers")                                                                             \
  X(spectral_apply_kernel, 256, thread, "n",                                                                           \
    "parameters[n], sigma[layers_count], counters[42], effective[n], n, layers_count, layers")                         \
  X(spectral_backward_kernel, 1024, block, "layers_count",                                                             \
    "gradient[n], effective[n], left[layers_count*stride], right[layers_count*stride], sigma[layers_count], n, "       \
    "layers_count, stride, epsilon, layers")                                                                           \
  X(begin_iteration_kernel, 32, block, "1", "isv[18], counters[42], episodes, length, n_step, params")                 \
  X(end_iteration_kernel, 1024, block, "1",                                                                            \
    "reward[episodes*length], isv[18], counters[42], health[60], episodes, length")                                    \
  X(snap_feature_assemble_kernel, 64, block, "rows/64", "before[1], input[rows], features[rows*40], rows, tick")       \
  X(take_snapshot_kernel, 128, block, "1", "slot[1], before[1], now[1], seconds[1], state[hidden], live[4], hidden")   \
  X(publish_prediction_kernel, 128, block, "1",                                                                        \
    "logits[5], projection[8], next[hidden], live[4], state[hidden], slot[1], hidden")                                 \
  X(take_fill_kernel, 32, block, "1", "slot[1], position[1]")                                                          \
  X(serve_snapshots_kernel, 128, fixed_block, "1",                                                                     \
    "slot[1], weights[1], asked[1], now[1], features[40], state[hidden], live[4], answers[1], left[1], hidden, "       \
    "tau_min, tick, snapshots, idle_ns")                                                                               \
  X(sample_windows_kernel, 128, thread, "windows", "rows[count], counters[42], starts[windows], count, windows, seed") \
  X(gather_windows_kernel, 256, thread, "windows*(steps+1)*40",                                                        \
    "features[rows*40], seconds[rows], labels[rows*5], starts[windows], x[windows*(steps+1)*40], "                     \
    "dt[windows*(steps+1)], y[windows*(steps+1)*5], rows, windows, steps")                                             \
  X(next_windows_kernel, 256, thread, "windows*hidden",                                                                \
    "rows[count], continues[count], counters[42], state[windows*(steps+1)*hidden], starts[windows], "                  \
    "initial[windows*hidden], count, windows, steps, hidden")                                                          \
  X(cfc_step_kernel, 128, fixed_block, "rows",                                                                         \
    "drive[rows*hidden], seconds[rows], recurrent[(hidden+1)*hidden], state[rows*hidden], next[rows*hidden], rows, "   \
    "hidden, tau_min")                                                                                                 \
  X(cfc_scan_forward_kernel, 128, fixed_block, "windows/4",                                                            \
    "drive[windows*(steps+1)*hidden], seconds[windows*(steps+1)], recurrent[(hidden+1)*hidden], "                      \
    "initial[windows*hidden], state[windows*(steps+1)*hidden], candidate[windows*(steps+1)*hidden], windows, steps, "  \
    "hidden, tau_min")                                                                                                 \
  X(cfc_scan_backward_kernel, 128, fixed_block, "windows/4",                                                           \
    "d_state[windows*(steps+1)*hidden], state[windows*(steps+1)*hidden], candidate[windows*(steps+1)*hidden], "        \
    "seconds[windows*(steps+1)], recurrent[(hidden+1)*hidden], d_drive[windows*(steps+1)*hidden], "                    \
    "d_theta[windows/4*hidden], windows, steps, hidden, tau_min")                                                      \
  X(multi_horizon_heads_kernel, 128, tile, "rows",                                                                     \
    "state[rows*hidden], projector[(hidden+1)*8], heads[45], projection[rows*8], logits[rows*5], rows, hidden")        \
  X(multi_horizon_heads_backward_kernel, 128, tile, "rows",                                                            \
    "d_logits[rows*5], projection[rows*8], projector[(hidden+1)*8], heads[45], d_projected[rows*8], "                  \
    "d_state[rows*hidden], rows, hidden")                                                                              \
  X(bce_loss_kernel, 256, thread, "rows", "logits[rows*5], labels[rows*5], loss[rows], d_logits[rows*5], rows, scale") \
  X(reduce_bce_kernel, 1024, block, "1", "loss[rows], labels[rows*5], isv[18], counters[42], rows")

static_assert(foxhunt::isv_slot_count == 18 && foxhunt::counter_count == 42,
              "the table above states isv[18], counters[42] and health[60]");
