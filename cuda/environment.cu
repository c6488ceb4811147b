// The market environment (DESIGN 7): one thread an episode, exact dollars. An ended episode starts anew in the step
// after, which is stored as unused: so the slot after any transition always holds the observation that followed it.
#include "cuda/guard.cuh"
#include "cuda/random.cuh"

#include "core/kernels.h"

using namespace foxhunt;
using namespace foxhunt::cuda;

namespace {

/// The state's portfolio part, all in [-1, 1].
DEVICE void write_portfolio(const Episode& e, const EnvironmentParams& params, float exit_cost, float* out) {
  const float unit = 1.0f / params.reward_scale;
  const float equity = static_cast<float>(e.equity);
  out[0] = e.position / params.max_contracts;
  out[1] = tanhf(e.unrealised * unit * 0.2f);
  out[2] = static_cast<float>(e.hold) / (static_cast<float>(e.hold) + 30.0f);
  out[3] = 1.0f - static_cast<float>(e.steps) / static_cast<float>(params.step_limit);
  out[4] = tanhf(equity * unit * 0.05f);
  out[5] = tanhf((static_cast<float>(e.peak) - equity) * unit * 0.05f);
  out[6] = tanhf(e.last_reward);
  out[7] = tanhf(fabsf(e.position) * exit_cost * unit);
}

DEVICE Episode new_episode() { return {0.0, 0.0, 0.0, 0.0f, 0.0f, 0.0f, 0, 0, 0}; }

/// Moves the position from p to q at a row: unrealised profit up to the fill, what the change keeps of it, and on to
/// the next row's mid.
DEVICE void change_position(Episode& e, float q, float open_gap, float hold_gap) {
  const float p = e.position;
  float unrealised = e.unrealised + p * open_gap;
  if (p * q <= 0.0f) {
    unrealised = 0.0f;
  } else if (fabsf(q) < fabsf(p)) {
    unrealised *= q / p;
  }
  e.unrealised = unrealised + q * hold_gap;
  e.hold = q == 0.0f ? 0 : p * q > 0.0f ? e.hold + 1 : 1;
  e.trades += q != p;
  e.position = q;
}

}  // namespace

KERNEL void LAUNCH_BOUNDS(128)
    reset_episodes_kernel(const int32_t* __restrict__ start_rows, Episode* __restrict__ state,
                          int32_t* __restrict__ row, float* __restrict__ portfolio, float* __restrict__ priority,
                          uint8_t* __restrict__ flags, int starts, int episodes, int length, EnvironmentParams params) {
  for (int e : grid_stride(episodes)) {
    for (int slot = 0; slot < length; ++slot) {
      priority[slot * episodes + e] = 0.0f;
      flags[slot * episodes + e] = 0;
    }
    const int choice = params.in_order ? e % starts : philox(params.seed, 0, e, stream_reset).below(0, starts);
    const Episode fresh = new_episode();
    row[e] = start_rows[choice];
    state[e] = fresh;
    write_portfolio(fresh, params, 0.0f, portfolio + e * portfolio_width);
  }
}

KERNEL void LAUNCH_BOUNDS(256)
    gather_observations_kernel(const float* __restrict__ table, const int32_t* __restrict__ row,
                               const float* __restrict__ portfolio, const int32_t* __restrict__ index,
                               const int32_t* __restrict__ next, uint32_t* __restrict__ counters,
                               float* __restrict__ observation, int episodes, int batch, int length, int features,
                               int rows) {
  const int width = features + portfolio_width;
  const int current = static_cast<int>(counters[counter_iteration] % static_cast<uint32_t>(length)) * episodes;
  for (int i : grid_stride((episodes + 2 * batch) * width)) {
    const int r = i / width, column = i % width;
    const int leaf = r < episodes           ? current + r
                     : r < episodes + batch ? index[r - episodes]
                                            : next[r - episodes - batch];
    float v;
    if (column < features) {
      const int at = row[leaf];
      v = at < rows ? table[static_cast<int64_t>(at) * features + column] : 0.0f;
      if (!is_finite(v)) report_nonfinite(counters, nonfinite_feature);
    } else {
      v = portfolio[leaf * portfolio_width + column - features];
      if (!is_finite(v)) report_nonfinite(counters, nonfinite_portfolio);
    }
    observation[i] = v;
  }
}

KERNEL void LAUNCH_BOUNDS(128)
    select_actions_kernel(const float* __restrict__ q, const float* __restrict__ isv, uint32_t* __restrict__ counters,
                          int32_t* __restrict__ action, int episodes, int actions, uint64_t seed) {
  for (int e : grid_stride(episodes)) {
    int chosen = 0;
    bool finite = true;
    for (int a = 0; a < actions; ++a) {
      finite = finite && is_finite(q[e * actions + a]);
      if (q[e * actions + a] > q[e * actions + chosen]) chosen = a;
    }
    if (!finite) report_nonfinite(counters, nonfinite_q_value);
    const Random4 random = philox(seed, counters[counter_iteration], static_cast<uint32_t>(e), stream_exploration);
    if (random.uniform(0) < isv[isv_epsilon]) chosen = random.below(1, actions);
    action[e] = chosen;
    atomicAdd(&counters[counter_first_action + chosen], 1u);
  }
}

KERNEL void LAUNCH_BOUNDS(64)
    step_environment_kernel(const float* __restrict__ open_gap, const float* __restrict__ hold_gap,
                            const float* __restrict__ cost, const uint8_t* __restrict__ market_flags,
                            const int32_t* __restrict__ start_rows, const float* __restrict__ target_positions,
                            const int32_t* __restrict__ chosen, Episode* __restrict__ state, int32_t* __restrict__ row,
                            float* __restrict__ portfolio, int32_t* __restrict__ action, float* __restrict__ reward,
                            uint8_t* __restrict__ flags, float* __restrict__ priority, uint32_t* __restrict__ counters,
                            int rows, int starts, int actions, int episodes, int length, EnvironmentParams params) {
  const uint32_t iteration = counters[counter_iteration];
  const int slot = static_cast<int>(iteration % static_cast<uint32_t>(length));
  const int previous_slot = slot == 0 ? length - 1 : slot - 1;
  const int next_slot = slot + 1 == length ? 0 : slot + 1;
  for (int e : grid_stride(episodes)) {
    const int here = slot * episodes + e, after = next_slot * episodes + e;
    const int i = row[here];
    Episode episode = state[e];
    const uint8_t before = iteration == 0 ? uint8_t{0} : flags[previous_slot * episodes + e];
    const bool ended = before & (transition_terminal | transition_truncated);
    const bool finished = params.in_order && (ended || (before & transition_unused));
    uint8_t flag = transition_unused;
    float gained = 0.0f;
    int next_row = i;
    if (ended && !finished) {
      episode = new_episode();
      next_row = start_rows[philox(params.seed, iteration + 1, e, stream_reset).below(0, starts)];
    } else if (!finished) {
      const float p = episode.position, q = target_positions[chosen[e] < actions ? chosen[e] : 0];
      const float gross = p * open_gap[i] + q * hold_gap[i];
      const float paid = fabsf(q - p) * cost[i];
      const float equity = static_cast<float>(episode.equity + static_cast<double>(gross) - static_cast<double>(paid));
      if (i + 1 < rows && is_finite(equity) && is_finite(cost[i + 1])) {  // equity is not where gross or paid is not
        flag = 0;
        next_row = i + 1;
        change_position(episode, q, open_gap[i], hold_gap[i]);
        double net = static_cast<double>(gross) - static_cast<double>(paid);
        episode.gross += static_cast<double>(gross);
        const bool last = market_flags[next_row] & market_last;
        const bool ruined = episode.equity + net < static_cast<double>(params.ruin_equity);
        ++episode.steps;
        if (last || ruined) {  // flattened at the new row's prices, and paid for
          net -= static_cast<double>(fabsf(q) * cost[next_row]);
          episode.trades += q != 0.0f;
          episode.position = episode.unrealised = 0.0f;
          episode.hold = 0;
          flag = transition_terminal;
        } else if (episode.steps >= params.step_limit) {
          flag = transition_truncated;
        }
        episode.equity += net;
        if (episode.equity > episode.peak) episode.peak = episode.equity;
        const float scaled = static_cast<float>(net / static_cast<double>(params.reward_scale));
        gained = scaled - params.risk_aversion * scaled * scaled;
        episode.last_reward = gained;
      } else {  // refused, not booked: the episode ends here and the step is never sampled
        report_nonfinite(counters, nonfinite_price);
        flag = transition_unused | transition_terminal;
      }
    }
    action[here] = chosen[e];
    reward[here] = gained;
    flags[here] = flag;
    state[e] = episode;
    row[after] = next_row;
    write_portfolio(episode, params, cost[next_row], portfolio + after * portfolio_width);
    priority[after] = 0.0f;  // what the head writes over next may not be drawn
    // The step whose n-step window ends at the observation just written.
    const int window = params.n_step - 1;
    if (iteration >= static_cast<uint32_t>(window)) {
      const int complete = (slot - window % length + length) % length * episodes + e;
      priority[complete] = flags[complete] & transition_unused ? 0.0f : __uint_as_float(counters[counter_max_priority]);
    }
  }
}
