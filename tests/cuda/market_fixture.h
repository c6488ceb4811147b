#pragma once
// Small markets and the environment's kernels stepping through them.
#include "tests/cuda/kernel_fixture.h"

namespace foxhunt::test {

/// E-mini S&P 500: dollars a point, half a tick of spread in points, dollars of commission.
inline constexpr float es_multiplier = 50.0f, es_half_spread = 0.125f, es_commission = 2.25f;

/// Columns of a tape as the environment takes them, and the rows at which episodes may start.
struct Market {
  std::vector<float> open_gap, hold_gap, cost;
  std::vector<std::uint8_t> flags;
  std::vector<std::int32_t> starts = {0};
  int rows() const { return static_cast<int>(cost.size()); }
};

/// One session over mid prices and fill prices in points; its last row is flagged.
inline Market es_market(const std::vector<float>& mid, const std::vector<float>& fill) {
  Market market;
  for (std::size_t i = 0; i < mid.size(); ++i) {
    market.open_gap.push_back(es_multiplier * (fill[i] - mid[i]));
    market.hold_gap.push_back(i + 1 < mid.size() ? es_multiplier * (mid[i + 1] - fill[i]) : 0.0f);
    market.cost.push_back(es_multiplier * es_half_spread + es_commission);
    market.flags.push_back(i + 1 == mid.size() ? market_last : 0);
  }
  return market;
}

/// Quarter-point random walks, fills off the mid by up to a point, in sessions of `session` rows with a jump between
/// them. Episodes may start at the first and the middle row of each.
inline Market random_market(Random& random, int sessions, int session) {
  std::vector<float> mid, fill;
  float price = 4000.0f;
  for (int i = 0; i < sessions * session; ++i) {
    price += i % session == 0 ? 40.0f : 0.25f * static_cast<float>(random.integer(-8, 8));
    mid.push_back(price);
    fill.push_back(price + 0.25f * static_cast<float>(random.integer(-4, 4)));
  }
  Market market = es_market(mid, fill);
  market.starts.clear();
  for (int s = 0; s < sessions; ++s) {
    market.flags[static_cast<std::size_t>((s + 1) * session - 1)] = market_last;
    market.starts.push_back(s * session);
    market.starts.push_back(s * session + session / 2);
  }
  return market;
}

/// Short, half short, flat, half long, long, of one contract.
inline const std::vector<float> five_positions = {-1.0f, -0.5f, 0.0f, 0.5f, 1.0f};
inline constexpr int short_one = 0, flat = 2, long_half = 3, long_one = 4;

inline EnvironmentParams plain_environment() {
  EnvironmentParams params{};
  params.seed = 77;
  params.reward_scale = 100.0f;
  params.risk_aversion = 0.0f;
  params.capital = 100000.0f;
  params.ruin_equity = -1e9f;
  params.max_contracts = 1.0f;
  params.step_limit = 1 << 20;
  params.n_step = 1;
  params.in_order = 0;
  return params;
}

/// What one step stored for one episode, and the observation after it.
struct Step {
  int row, next_row, action;
  float reward;
  std::uint8_t flags;
  bool ended() const { return flags & (transition_terminal | transition_truncated); }
  bool used() const { return !(flags & transition_unused); }
};

/// `episodes` market episodes over a ring of `length` steps, all on the device.
class Simulation {
 public:
  Simulation(Device& device, const Market& market, const EnvironmentParams& p, int episode_count, int ring_length = 8,
             const std::vector<float>& target_positions = five_positions)
      : params(p),
        episodes(episode_count),
        length(ring_length),
        open_gap(device, market.open_gap),
        hold_gap(device, market.hold_gap),
        cost(device, market.cost),
        market_flags(device, market.flags),
        starts(device, market.starts),
        positions(device, target_positions),
        state(device, static_cast<std::size_t>(episodes)),
        row(device, leaves()),
        portfolio(device, leaves() * portfolio_width),
        action(device, leaves()),
        reward(device, leaves()),
        flags(device, leaves()),
        priority(device, leaves()),
        counters(device, counters_with({{counter_max_priority, std::bit_cast<std::uint32_t>(1.0f)}})),
        device_(device) {
    reset();
  }

  void reset() {
    counters.set(counter_iteration, iteration_ = 0);
    launch_guarded(device_, reset_episodes_kernel, starts, state, row, portfolio, priority, flags,
                   static_cast<int>(starts.size()), episodes, length, params);
  }

  /// Every episode takes its action.
  void step(const std::vector<std::int32_t>& chosen) {
    const TestBuffer<std::int32_t> taken(device_, chosen);
    launch_guarded(device_, step_environment_kernel, open_gap, hold_gap, cost, market_flags, starts, positions, taken,
                   state, row, portfolio, action, reward, flags, priority, counters, static_cast<int>(cost.size()),
                   static_cast<int>(starts.size()), static_cast<int>(positions.size()), episodes, length, params);
    counters.set(counter_iteration, ++iteration_);
  }
  void step_all(int chosen) { step(std::vector<std::int32_t>(static_cast<std::size_t>(episodes), chosen)); }

  std::size_t leaves() const { return static_cast<std::size_t>(episodes) * static_cast<std::size_t>(length); }
  std::uint32_t iteration() const { return iteration_; }
  /// Leaf of the step last taken, and of the observation after it.
  std::size_t leaf(int episode) const { return leaf_at(iteration_ - 1, episode); }
  std::size_t leaf_after(int episode) const { return leaf_at(iteration_, episode); }
  std::size_t leaf_at(std::uint32_t iteration, int episode) const {
    return iteration % static_cast<std::uint32_t>(length) * static_cast<std::size_t>(episodes) +
           static_cast<std::size_t>(episode);
  }

  /// The step last taken, of every episode.
  std::vector<Step> last() const {
    const auto rows = row.download(), actions = action.download();
    const auto rewards = reward.download();
    const auto ends = flags.download();
    std::vector<Step> steps;
    for (int e = 0; e < episodes; ++e)
      steps.push_back({rows[leaf(e)], rows[leaf_after(e)], actions[leaf(e)], rewards[leaf(e)], ends[leaf(e)]});
    return steps;
  }
  /// Portfolio numbers of the observation after the step last taken.
  std::vector<float> portfolio_after(int episode) const {
    return device_.download(portfolio.span().part(leaf_after(episode) * portfolio_width, portfolio_width));
  }

  EnvironmentParams params;
  int episodes, length;
  TestBuffer<float> open_gap, hold_gap, cost;
  TestBuffer<std::uint8_t> market_flags;
  TestBuffer<std::int32_t> starts;
  TestBuffer<float> positions;
  TestBuffer<Episode> state;
  TestBuffer<std::int32_t> row;
  TestBuffer<float> portfolio;
  TestBuffer<std::int32_t> action;
  TestBuffer<float> reward;
  TestBuffer<std::uint8_t> flags;
  TestBuffer<float> priority;
  TestBuffer<std::uint32_t> counters;

 private:
  Device& device_;
  std::uint32_t iteration_ = 0;
};

}  // namespace foxhunt::test
