// What a position earns and costs: exact dollars, step by step and over whole episodes.
#include "tests/cuda/market_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr float es_cost = es_multiplier * es_half_spread + es_commission;  // 8.50 dollars a contract and side

std::vector<std::int32_t> random_actions(Random& random, int episodes) {
  return random.integers(static_cast<std::size_t>(episodes), 0, 4);
}

}  // namespace

TEST_CASE("kernel_environment: one ES contract long, one point up is 50 dollars less costs") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4001.0f, 4001.0f, 4001.0f};
  Simulation market(device, es_market(mid, mid), plain_environment(), 1);
  market.step_all(long_one);  // bought at 4000, marked at 4001
  REQUIRE(market.state.at(0).equity == 50.0 - es_cost);
  REQUIRE(market.state.at(0).gross == 50.0);
  REQUIRE(market.last()[0].reward == (50.0f - es_cost) / 100.0f);
  market.step_all(long_one);  // held at no change
  REQUIRE(market.last()[0].reward == 0.0f);
  market.step_all(flat);  // sold
  REQUIRE(market.state.at(0).equity == 50.0 - 2 * es_cost);
  REQUIRE(market.state.at(0).trades == 2);
  REQUIRE(market.last()[0].reward == -es_cost / 100.0f);
  REQUIRE(market.last()[0].flags == 0);
}

TEST_CASE("kernel_environment: a short earns what a long loses, half a contract half") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 3998.0f, 3998.0f};
  Simulation market(device, es_market(mid, mid), plain_environment(), 3);
  market.step({short_one, long_one, long_half});
  REQUIRE(market.state.at(0).equity == 100.0 - es_cost);
  REQUIRE(market.state.at(1).equity == -100.0 - es_cost);
  REQUIRE(market.state.at(2).equity == -50.0 - 0.5 * es_cost);
}

TEST_CASE("kernel_environment: the old position earns up to the fill, the new one after it") {
  ON_EVERY_DEVICE(device);
  // Fills two points above the mid at row 1.
  Simulation market(device, es_market({4000.0f, 4000.0f, 4005.0f, 4005.0f}, {4000.0f, 4002.0f, 4005.0f, 4005.0f}),
                    plain_environment(), 2);
  market.step({long_one, flat});
  market.step({short_one, long_one});
  // Long from mid to fill (+2), then short from fill to the next mid (-3), two contracts traded; and long (+3).
  REQUIRE(market.state.at(0).gross == 50.0 * (2 - 3));
  REQUIRE(market.state.at(0).equity == 50.0 * (2 - 3) - 3 * es_cost);
  REQUIRE(market.state.at(1).gross == 50.0 * 3);
  REQUIRE(market.state.at(1).equity == 50.0 * 3 - es_cost);
}

TEST_CASE("kernel_environment: a held position earns the whole move of the market, wherever the fills were") {
  ON_EVERY_DEVICE(device);
  Random random(110);
  for (int length = 2; length < 30; length += 9) {
    std::vector<float> mid, fill;
    for (int i = 0; i <= length + 1; ++i) {
      mid.push_back(4000.0f + 0.25f * static_cast<float>(random.integer(-100, 100)));
      fill.push_back(mid.back() + 0.25f * static_cast<float>(random.integer(-20, 20)));
    }
    Simulation market(device, es_market(mid, fill), plain_environment(), 1);
    for (int i = 0; i < length; ++i) market.step_all(long_one);
    REQUIRE(market.state.at(0).gross == 50.0 * (static_cast<double>(mid[static_cast<std::size_t>(length)]) - fill[0]));
    REQUIRE(market.state.at(0).equity == market.state.at(0).gross - es_cost);
  }
}

TEST_CASE("kernel_environment: flat earns nothing and pays nothing, whatever the market does") {
  ON_EVERY_DEVICE(device);
  Random random(111);
  Simulation market(device, random_market(random, 5, 40), plain_environment(), 7);
  for (int i = 0; i < 60; ++i) {
    market.step_all(flat);
    for (const Step& step : market.last()) REQUIRE(step.reward == 0.0f);
    for (const Episode& e : market.state.download()) REQUIRE((e.equity == 0.0 && e.gross == 0.0 && e.trades == 0));
  }
}

TEST_CASE("kernel_environment: over an episode the rewards sum to the equity, to the cent") {
  ON_EVERY_DEVICE(device);
  Random random(112);
  constexpr int episodes = 37;
  EnvironmentParams params = plain_environment();
  params.step_limit = 50;
  Simulation market(device, random_market(random, 11, 60), params, episodes);
  std::vector<double> dollars(episodes, 0.0);
  int finished = 0;
  for (int i = 0; i < 200; ++i) {
    market.step(random_actions(random, episodes));
    const std::vector<Step> steps = market.last();
    const std::vector<Episode> state = market.state.download();
    for (std::size_t e = 0; e < episodes; ++e) {
      if (!steps[e].used()) dollars[e] = 0.0;
      dollars[e] += static_cast<double>(steps[e].reward) * static_cast<double>(params.reward_scale);
      REQUIRE(std::fabs(dollars[e] - state[e].equity) < 0.01);
      REQUIRE(state[e].gross >= state[e].equity);
      REQUIRE(state[e].peak >= state[e].equity);
      finished += steps[e].ended();
    }
  }
  REQUIRE(finished > 100);
  REQUIRE(market.counters.at(counter_nonfinite) == 0);
}

TEST_CASE("kernel_environment: gross less net is the cost of every contract traded") {
  ON_EVERY_DEVICE(device);
  Random random(113);
  Simulation market(device, random_market(random, 1, 100), plain_environment(), 9);
  std::vector<float> position(9, 0.0f), traded(9, 0.0f);
  std::vector<int> changes(9, 0);
  for (int i = 0; i < 40; ++i) {  // from either start row the session is longer than that
    const std::vector<std::int32_t> chosen = random_actions(random, 9);
    market.step(chosen);
    for (std::size_t e = 0; e < 9; ++e) {
      const float next = five_positions[static_cast<std::size_t>(chosen[e])];
      traded[e] += std::fabs(next - position[e]);
      changes[e] += next != position[e];
      position[e] = next;
    }
  }
  for (std::size_t e = 0; e < 9; ++e) {
    const Episode episode = market.state.at(e);
    REQUIRE(episode.position == position[e]);
    REQUIRE(episode.trades == changes[e]);
    REQUIRE(std::fabs(episode.gross - episode.equity - es_cost * traded[e]) < 1e-6);
  }
}

TEST_CASE("kernel_environment: the open position's profit is known, and goes with the part that is closed") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4002.0f, 4003.0f, 4003.0f, 4003.0f, 4003.0f};
  Simulation market(device, es_market(mid, mid), plain_environment(), 1);
  market.step_all(long_one);
  REQUIRE(market.state.at(0).unrealised == 100.0f);
  market.step_all(long_one);
  REQUIRE(market.state.at(0).unrealised == 150.0f);
  REQUIRE(market.state.at(0).hold == 2);
  market.step_all(long_half);
  REQUIRE(market.state.at(0).unrealised == 75.0f);
  REQUIRE(market.state.at(0).hold == 3);
  market.step_all(short_one);
  REQUIRE(market.state.at(0).unrealised == 0.0f);
  REQUIRE(market.state.at(0).hold == 1);
}

TEST_CASE("kernel_environment: risk aversion takes the square of the scaled dollars") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4008.0f, 4008.0f};
  EnvironmentParams params = plain_environment();
  params.risk_aversion = 0.25f;
  Market market = es_market(mid, mid);
  market.cost.assign(3, 0.0f);
  Simulation averse(device, market, params, 2);
  averse.step({long_one, short_one});  // 400 dollars on a scale of 100
  REQUIRE(averse.last()[0].reward == 4.0f - 0.25f * 16.0f);
  REQUIRE(averse.last()[1].reward == -4.0f - 0.25f * 16.0f);
  REQUIRE(averse.state.at(0).equity == 400.0);
}

TEST_CASE("kernel_environment: an action beyond the table takes its first position and is stored as it was") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> mid = {4000.0f, 4001.0f, 4001.0f};
  Simulation market(device, es_market(mid, mid), plain_environment(), 1);
  market.step_all(5);
  REQUIRE(market.state.at(0).position == five_positions[0]);
  REQUIRE(market.last()[0].action == 5);
}

TEST_CASE("kernel_environment: profit is carried by the position, not by the trades that changed its size") {
  ON_EVERY_DEVICE(device);
  Market market = es_market(std::vector<float>(8, 4000.0f), std::vector<float>(8, 4000.0f));
  market.open_gap = {0.0f, 10.0f, 4.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  market.hold_gap = {100.0f, 20.0f, 5.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  Simulation simulation(device, market, plain_environment(), 2, 8, {-2.0f, -1.0f, 1.0f, 2.0f});
  const auto step = [&](std::int32_t first, std::int32_t second) {
    simulation.step({first, second});
    return std::pair{simulation.state.at(0).unrealised, simulation.state.at(1).unrealised};
  };
  using Dollars = std::pair<float, float>;
  REQUIRE(step(2, 1) == Dollars{100.0f, -100.0f});  // one contract, long and short
  REQUIRE(step(2, 1) == Dollars{130.0f, -130.0f});  // held over the fill of the next row
  REQUIRE(step(3, 0) == Dollars{144.0f, -144.0f});  // four more for one contract, then five for each of two
  REQUIRE(step(2, 1) == Dollars{72.0f, -72.0f});    // half is closed and takes its half along
}

TEST_CASE("kernel_environment: a step costs what its own row asks, closing what the next row asks") {
  ON_EVERY_DEVICE(device);
  Market market = es_market(std::vector<float>(4, 4000.0f), std::vector<float>(4, 4000.0f));
  market.cost = {1.0f, 10.0f, 100.0f, 1000.0f};
  market.flags = {0, 0, market_last, 0};
  Simulation simulation(device, market, plain_environment(), 2);
  simulation.step({long_one, short_one});
  for (const Episode& e : simulation.state.download()) REQUIRE(e.equity == -1.0);
  for (int e = 0; e < 2; ++e)  // a tenth of the reward scale to get out
    REQUIRE(std::fabs(simulation.portfolio_after(e)[7] - std::tanh(0.1f)) < 1e-6f);
  simulation.step({long_one, short_one});
  for (const Episode& e : simulation.state.download()) REQUIRE((e.equity == -101.0 && e.hold == 0));
  for (const Step& step : simulation.last()) REQUIRE(step.reward == -1.0f);
}

TEST_CASE("kernel_environment: portfolio numbers are on their stated scales") {
  ON_EVERY_DEVICE(device);
  Market market = es_market(std::vector<float>(4, 4000.0f), std::vector<float>(4, 4000.0f));
  market.hold_gap = {500.0f, -1500.0f, 0.0f, 0.0f};
  market.cost.assign(4, 0.0f);
  Simulation simulation(device, market, plain_environment(), 1);  // a reward scale of 100 dollars
  const auto require_tanh = [&](std::size_t number, float of) {
    CAPTURE(number);
    REQUIRE(std::fabs(simulation.portfolio_after(0)[number] - std::tanh(of)) < 1e-6f);
  };
  simulation.step_all(long_one);
  require_tanh(1, 1.0f);   // 500 dollars unrealised: five scales
  require_tanh(4, 0.25f);  // 500 dollars of equity: a quarter of twenty scales
  simulation.step_all(long_one);
  REQUIRE(simulation.portfolio_after(0)[2] == 0.0625f);  // two steps held: 2 / (2 + 30)
  require_tanh(4, -0.5f);
  require_tanh(5, 0.75f);  // 1,500 dollars below the peak
  require_tanh(6, -15.0f);
}

TEST_CASE("kernel_environment: a cost that would carry equity beyond a float is refused") {
  ON_EVERY_DEVICE(device);
  Market market = es_market(std::vector<float>(4, 4000.0f), std::vector<float>(4, 4000.0f));
  market.hold_gap = {-2e38f, 0.0f, 0.0f, 0.0f};
  market.cost = {0.0f, 3e38f, 0.0f, 0.0f};
  EnvironmentParams params = plain_environment();
  params.ruin_equity = -3.4e38f;
  Simulation simulation(device, market, params, 1);
  simulation.step_all(long_one);
  REQUIRE(simulation.last()[0].flags == 0);
  simulation.step_all(flat);
  REQUIRE(simulation.last()[0].flags == (transition_unused | transition_terminal));
}
