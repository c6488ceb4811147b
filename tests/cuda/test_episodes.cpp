// How episodes start, end and start anew, and what is stored of them.
#include <set>

#include "tests/cuda/market_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr float es_cost = es_multiplier * es_half_spread + es_commission;

/// The portfolio part of an episode that has not begun to trade.
const std::vector<float> untouched = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f};

}  // namespace

TEST_CASE("kernel_environment: a reset puts every episode at a start row, empty-handed, and empties the replay") {
  ON_EVERY_DEVICE(device);
  Random random(120);
  const Market market = random_market(random, 6, 30);
  Simulation simulation(device, market, plain_environment(), 6007, 5);
  const auto rows = simulation.row.download();
  std::vector<int> used(market.starts.size(), 0);
  for (int e = 0; e < simulation.episodes; ++e) {
    const auto found = std::find(market.starts.begin(), market.starts.end(), rows[static_cast<std::size_t>(e)]);
    REQUIRE(found != market.starts.end());
    ++used[static_cast<std::size_t>(found - market.starts.begin())];
  }
  double chi_square = 0.0;
  const double expected = 6007.0 / static_cast<double>(used.size());
  for (const int count : used) chi_square += std::pow(count - expected, 2) / expected;
  REQUIRE(chi_square < 45.0);  // 11 degrees of freedom: exceeded with probability 5e-6
  for (const Episode& e : simulation.state.download())
    REQUIRE((e.equity == 0.0 && e.gross == 0.0 && e.peak == 0.0 && e.position == 0.0f && e.unrealised == 0.0f &&
             e.last_reward == 0.0f && e.steps == 0 && e.hold == 0 && e.trades == 0));
  REQUIRE(simulation.priority.download() == std::vector<float>(simulation.leaves(), 0.0f));
  REQUIRE(simulation.flags.download() == std::vector<std::uint8_t>(simulation.leaves(), 0));
  const auto portfolio = simulation.portfolio.download();
  REQUIRE(std::vector<float>(portfolio.begin() + 8 * 6006, portfolio.begin() + 8 * 6007) == untouched);
}

TEST_CASE("kernel_environment: start rows depend on the seed alone") {
  ON_EVERY_DEVICE(device);
  Random random(121);
  const Market market = random_market(random, 50, 10);
  EnvironmentParams params = plain_environment();
  const auto rows = [&] { return Simulation(device, market, params, 200, 1).row.download(); };
  const auto first = rows(), again = rows();
  REQUIRE(first == again);
  params.seed = 78;
  REQUIRE(rows() != first);
}

TEST_CASE("kernel_environment: at a session's last row the position is closed and the closing paid for") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4003.0f};
  Simulation market(device, es_market(mid, mid), plain_environment(), 2);
  market.step({long_one, flat});
  REQUIRE(market.last()[0].flags == 0);
  market.step({long_one, flat});  // from row 1 to row 2, the last
  REQUIRE(market.last()[0].flags == transition_terminal);
  REQUIRE(market.last()[0].next_row == 2);
  REQUIRE(market.last()[0].reward == (100.0f - es_cost) / 100.0f);
  const Episode ended = market.state.at(0);
  REQUIRE(ended.equity == 150.0 - 2 * es_cost);
  REQUIRE(ended.position == 0.0f);
  REQUIRE(ended.unrealised == 0.0f);
  REQUIRE(ended.trades == 2);
  REQUIRE(market.portfolio_after(0)[0] == 0.0f);
  REQUIRE(market.last()[1].flags == transition_terminal);
  REQUIRE(market.state.at(1).trades == 0);
  REQUIRE(market.state.at(1).equity == 0.0);
}

TEST_CASE("kernel_environment: a roll's jump between sessions is never earned") {
  ON_EVERY_DEVICE(device);
  Market market = es_market({4000.0f, 4001.0f, 4002.0f, 4500.0f, 4501.0f, 4502.0f}, std::vector<float>(6, 0.0f));
  for (std::size_t i = 0; i < 6; ++i) market.open_gap[i] = 0.0f;
  market.hold_gap = {50.0f, 50.0f, 50.0f * 498, 50.0f, 50.0f, 0.0f};
  market.flags[2] = market_last;
  market.starts = {0, 3};
  EnvironmentParams params = plain_environment();
  Simulation simulation(device, market, params, 40);
  double best = 0.0;
  for (int i = 0; i < 30; ++i) {
    simulation.step_all(long_one);
    for (const Episode& e : simulation.state.download()) best = std::max(best, e.equity);
  }
  REQUIRE(best == 100.0 - 2 * es_cost);
}

TEST_CASE("kernel_environment: the step after an end is unused and starts anew") {
  ON_EVERY_DEVICE(device);
  Random random(122);
  EnvironmentParams params = plain_environment();
  params.step_limit = 3;
  const Market market = random_market(random, 4, 20);
  Simulation simulation(device, market, params, 5);
  const std::set<int> starts(market.starts.begin(), market.starts.end());
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 3; ++i) {
      simulation.step_all(long_one);
      for (const Step& step : simulation.last()) REQUIRE(step.flags == (i == 2 ? transition_truncated : 0));
    }
    for (const Episode& e : simulation.state.download()) REQUIRE(e.position == 1.0f);  // a step limit closes nothing
    simulation.step_all(short_one);
    for (const Step& step : simulation.last()) {
      REQUIRE(step.flags == transition_unused);
      REQUIRE(step.reward == 0.0f);
      REQUIRE(starts.count(step.next_row) == 1);
    }
    for (int e = 0; e < 5; ++e) REQUIRE(simulation.portfolio_after(e) == untouched);
    for (const Episode& e : simulation.state.download())
      REQUIRE((e.equity == 0.0 && e.steps == 0 && e.position == 0.0f && e.trades == 0));
  }
}

TEST_CASE("kernel_environment: an end of session at the step limit is terminal") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4003.0f};
  EnvironmentParams params = plain_environment();
  params.step_limit = 2;
  Simulation market(device, es_market(mid, mid), params, 1);
  market.step_all(long_one);
  market.step_all(long_one);
  REQUIRE(market.last()[0].flags == transition_terminal);
}

TEST_CASE("kernel_environment: nothing is decided at a last row and no step skips a row") {
  ON_EVERY_DEVICE(device);
  Random random(123);
  const Market market = random_market(random, 23, 9);
  Simulation simulation(device, market, plain_environment(), 101);
  int used = 0, unused = 0;
  for (int i = 0; i < 60; ++i) {
    simulation.step(random.integers(101, 0, 4));
    for (const Step& step : simulation.last()) {
      ++(step.used() ? used : unused);
      if (!step.used()) continue;
      REQUIRE(!(market.flags[static_cast<std::size_t>(step.row)] & market_last));
      REQUIRE(step.next_row == step.row + 1);
      const bool last = market.flags[static_cast<std::size_t>(step.next_row)] & market_last;
      REQUIRE(step.flags == (last ? transition_terminal : 0));
    }
  }
  REQUIRE(used > 3000);
  REQUIRE(unused > 500);
}

TEST_CASE("kernel_environment: ruin ends the episode, closed and paid for") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 3990.0f, 3970.0f, 3970.0f, 3970.0f};
  EnvironmentParams params = plain_environment();
  params.ruin_equity = -1000.0f;
  Simulation market(device, es_market(mid, mid), params, 2);
  market.step({long_one, short_one});
  REQUIRE(market.last()[0].flags == 0);  // 508.50 dollars down
  market.step({long_one, short_one});
  REQUIRE(market.last()[0].flags == transition_terminal);
  REQUIRE(market.state.at(0).equity == -1500.0 - 2 * es_cost);
  REQUIRE(market.state.at(0).position == 0.0f);
  REQUIRE(market.last()[1].flags == 0);
}

TEST_CASE("kernel_environment: a price that is not finite is refused, counted, and not booked") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4002.0f, 4003.0f, 4004.0f, 4005.0f};
  for (auto column : {&Market::open_gap, &Market::hold_gap, &Market::cost})
    for (const float bad : {NAN, INFINITY}) {
      Market market = es_market(mid, mid);
      market.starts = {0, 3};
      (market.*column)[1] = bad;
      EnvironmentParams params = plain_environment();
      params.in_order = 1;  // episode 0 from row 0, episode 1 from row 3
      Simulation simulation(device, market, params, 2);
      int steps = 0;
      do {
        simulation.step_all(long_one);
      } while (simulation.last()[0].flags == 0 && ++steps < 3);
      const Step refused = simulation.last()[0];
      REQUIRE(refused.flags == (transition_unused | transition_terminal));
      REQUIRE(refused.reward == 0.0f);
      REQUIRE(refused.next_row == refused.row);
      REQUIRE(steps == (column == &Market::cost ? 0 : 1));  // a cost is needed where the position may be closed
      const double booked = steps * (50.0 - es_cost);
      REQUIRE(simulation.state.at(0).equity == booked);
      REQUIRE(simulation.counters.at(counter_nonfinite) == 1);
      REQUIRE(simulation.counters.at(counter_nonfinite_mask) == nonfinite_price);
      REQUIRE(std::isfinite(simulation.state.at(1).equity));
      REQUIRE(simulation.state.at(1).steps > 0);
    }
}

TEST_CASE("kernel_environment: prices that would carry equity beyond a float are refused, not booked as infinite") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4002.0f, 4003.0f, 4004.0f, 4005.0f};
  Market market = es_market(mid, mid);
  for (float& gap : market.hold_gap) gap = 3e38f;
  Simulation simulation(device, market, plain_environment(), 1);
  simulation.step_all(long_one);
  REQUIRE(simulation.last()[0].flags == 0);
  simulation.step_all(long_one);
  REQUIRE(simulation.last()[0].flags == (transition_unused | transition_terminal));
  REQUIRE(simulation.counters.at(counter_nonfinite_mask) == nonfinite_price);
  REQUIRE(std::isfinite(static_cast<float>(simulation.state.at(0).equity)));
}

TEST_CASE("kernel_environment: the end of the tape is no row to step from") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4002.0f};
  Market market = es_market(mid, mid);
  market.starts = {2};
  Simulation simulation(device, market, plain_environment(), 1);
  simulation.step_all(long_one);
  REQUIRE(simulation.last()[0].flags == (transition_unused | transition_terminal));
  REQUIRE(simulation.last()[0].next_row == 2);
  REQUIRE(simulation.state.at(0).equity == 0.0);
}

TEST_CASE("kernel_environment: in order, episodes start at their own rows and stop after their end") {
  ON_EVERY_DEVICE(device);
  Random random(124);
  Market market = random_market(random, 3, 10);
  EnvironmentParams params = plain_environment();
  params.in_order = 1;
  Simulation simulation(device, market, params, 8);
  const auto rows = simulation.row.download();
  for (std::size_t e = 0; e < 8; ++e) REQUIRE(rows[e] == market.starts[e % 6]);
  std::vector<double> final_equity(8, NAN);
  std::vector<int> steps(8, 0);
  for (int i = 0; i < 25; ++i) {
    simulation.step_all(i % 5);
    const auto last = simulation.last();
    const auto state = simulation.state.download();
    for (std::size_t e = 0; e < 8; ++e) {
      steps[e] += last[e].used();
      if (last[e].ended()) {
        REQUIRE(std::isnan(final_equity[e]));  // once
        final_equity[e] = state[e].equity;
      } else if (!last[e].used()) {
        REQUIRE(last[e].reward == 0.0f);
        REQUIRE(last[e].next_row == last[e].row);
        REQUIRE(state[e].equity == final_equity[e]);
      }
    }
  }
  for (std::size_t e = 0; e < 8; ++e) REQUIRE(steps[e] == (e % 2 ? 4 : 9));  // from the middle and from the first row
}

TEST_CASE("kernel_environment: a step gets its first priority when its window is complete, an unused one never") {
  ON_EVERY_DEVICE(device);
  Random random(125);
  for (const int n_step : {1, 3, 5}) {
    EnvironmentParams params = plain_environment();
    params.n_step = n_step;
    params.step_limit = 4;
    Simulation simulation(device, random_market(random, 5, 30), params, 3, 7);
    simulation.counters.set(counter_max_priority, std::bit_cast<std::uint32_t>(2.5f));
    std::vector<bool> used;  // by iteration; all three episodes end together
    for (std::uint32_t i = 0; i < 30; ++i) {
      simulation.step_all(static_cast<int>(i % 5));
      used.push_back(simulation.last()[0].used());
      const auto priority = simulation.priority.download();
      for (std::uint32_t back = 0; back < std::min(i + 1, 6u); ++back) {
        const std::uint32_t step = i - back;
        const bool complete = static_cast<int>(back) >= n_step - 1;
        CAPTURE(n_step, i, back);
        for (int e = 0; e < 3; ++e)
          REQUIRE(priority[simulation.leaf_at(step, e)] == (complete && used[step] ? 2.5f : 0.0f));
      }
      // What the head writes next may not be drawn.
      for (int e = 0; e < 3; ++e) REQUIRE(priority[simulation.leaf_after(e)] == 0.0f);
    }
  }
}

TEST_CASE("kernel_environment: portfolio numbers stay within one, whatever the market") {
  ON_EVERY_DEVICE(device);
  Random random(126);
  for (const float size : {1e-3f, 1e3f, 1e9f, 1e20f}) {
    Market market = random_market(random, 4, 25);
    for (std::size_t i = 0; i < market.cost.size(); ++i) {
      market.open_gap[i] = random.uniform(-size, size);
      market.hold_gap[i] = random.uniform(-size, size);
      market.cost[i] = random.uniform(0.0f, size);
    }
    EnvironmentParams params = plain_environment();
    params.step_limit = 17;
    Simulation simulation(device, market, params, 50);
    CAPTURE(size);
    for (int i = 0; i < 40; ++i) {
      simulation.step(random.integers(50, 0, 4));
      for (int e = 0; e < 50; ++e)
        for (const float v : simulation.portfolio_after(e)) {
          REQUIRE(v >= -1.0f);
          REQUIRE(v <= 1.0f);
        }
    }
  }
}

TEST_CASE("kernel_environment: portfolio numbers tell position, profit, time and drawdown") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4004.0f, 4001.0f, 4001.0f, 4001.0f, 4001.0f};
  EnvironmentParams params = plain_environment();
  params.max_contracts = 2.0f;
  params.step_limit = 4;
  Simulation market(device, es_market(mid, mid), params, 2);
  market.step({long_one, short_one});
  const auto winner = market.portfolio_after(0), loser = market.portfolio_after(1);
  REQUIRE(winner[0] == 0.5f);
  REQUIRE(loser[0] == -0.5f);
  REQUIRE(winner[1] == -loser[1]);
  REQUIRE(winner[1] > 0.0f);
  REQUIRE(winner[2] > 0.0f);
  REQUIRE(winner[3] == 0.75f);
  REQUIRE(winner[4] > 0.0f);
  REQUIRE(loser[4] < 0.0f);
  REQUIRE(winner[5] == 0.0f);  // at its peak
  REQUIRE(loser[5] > 0.0f);
  REQUIRE(winner[6] > 0.0f);
  REQUIRE(loser[6] < 0.0f);
  REQUIRE(winner[7] > 0.0f);  // the cost of getting out
  market.step({long_one, flat});
  REQUIRE(market.portfolio_after(0)[2] > winner[2]);
  REQUIRE(market.portfolio_after(0)[3] == 0.5f);
  REQUIRE(market.portfolio_after(0)[5] > 0.0f);
  REQUIRE(market.portfolio_after(1)[0] == 0.0f);
  REQUIRE(market.portfolio_after(1)[2] == 0.0f);
  REQUIRE(market.portfolio_after(1)[7] == 0.0f);
}

TEST_CASE("kernel_environment: more episodes than a grid carries at once") {
  ON_EVERY_DEVICE(device);
  Random random(127);
  Simulation market(device, random_market(random, 3, 12), plain_environment(), 140003, 2);
  market.step_all(long_one);
  REQUIRE(market.reward.unwritten() == 140003);  // the other slot
  int wrong = 0;
  for (const Episode& e : market.state.download()) wrong += e.steps != 1;
  REQUIRE(wrong == 0);
}

TEST_CASE("kernel_environment: an episode of one step ends at once and starts anew at once, somewhere else") {
  ON_EVERY_DEVICE(device);
  Random random(128);
  EnvironmentParams params = plain_environment();
  params.step_limit = 1;
  params.ruin_equity = -es_cost;  // which is not less than itself
  Market market = random_market(random, 50, 10);
  market.open_gap.assign(market.open_gap.size(), 0.0f);
  market.hold_gap.assign(market.hold_gap.size(), 0.0f);
  Simulation simulation(device, market, params, 300, 4);
  const auto first = simulation.row.download();
  simulation.step_all(long_one);
  for (const Step& step : simulation.last()) REQUIRE(step.flags == transition_truncated);
  simulation.step_all(long_one);
  int same = 0;
  for (int e = 0; e < 300; ++e) {
    const Step step = simulation.last()[static_cast<std::size_t>(e)];
    REQUIRE(step.flags == transition_unused);
    same += step.next_row == first[static_cast<std::size_t>(e)];
  }
  REQUIRE(same < 30);  // of 300 episodes over 100 start rows
}

TEST_CASE("kernel_environment: nothing that was never stored can be drawn") {
  ON_EVERY_DEVICE(device);
  Random random(129);
  EnvironmentParams params = plain_environment();
  params.n_step = 3;
  Simulation simulation(device, random_market(random, 2, 20), params, 2, 6);
  for (int i = 0; i < 2; ++i) {
    simulation.step_all(flat);
    REQUIRE(simulation.priority.download() == std::vector<float>(12, 0.0f));
  }
}
