// Every random choice of a kernel is the one that seed, iteration, index and purpose give: a run can be made again
// exactly, in any order, on any device, by any later version.
#include "tests/cuda/market_fixture.h"
#include "tests/cuda/random_words.h"
#include "tests/cuda/replay_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr int episodes = 400;

/// A market of so many rows, each of which may start an episode, at which nothing can be earned.
Market flat_market(std::size_t rows) {
  Market market = es_market(std::vector<float>(rows, 4000.0f), std::vector<float>(rows, 4000.0f));
  market.starts.resize(rows - 8);
  for (std::size_t i = 0; i < market.starts.size(); ++i) market.starts[i] = static_cast<std::int32_t>(i);
  return market;
}

}  // namespace

TEST_CASE("kernel_environment: episodes start, and start anew, where seed and iteration say") {
  ON_EVERY_DEVICE(device);
  const Market market = flat_market(5000);
  const int starts = static_cast<int>(market.starts.size());
  EnvironmentParams params = plain_environment();
  params.step_limit = 3;
  Simulation simulation(device, market, params, episodes);
  const auto first = simulation.row.download();
  for (int e = 0; e < episodes; ++e)
    REQUIRE(first[static_cast<std::size_t>(e)] == random_words(params.seed, 0, e, Purpose::reset).below(0, starts));
  for (int i = 0; i < 4; ++i) simulation.step_all(2);  // three steps, and the one that starts anew
  const auto last = simulation.last();
  for (int e = 0; e < episodes; ++e)
    REQUIRE(last[static_cast<std::size_t>(e)].next_row ==
            random_words(params.seed, 4, e, Purpose::reset).below(0, starts));
}

TEST_CASE("kernel_environment: before the first step nothing has ended, whatever the ring held") {
  ON_EVERY_DEVICE(device);
  Simulation simulation(device, flat_market(50), plain_environment(), 3, 4);
  for (std::size_t leaf = 0; leaf < 12; ++leaf) simulation.flags.set(leaf, transition_terminal);
  simulation.step_all(2);
  for (const Step& step : simulation.last()) REQUIRE(step.flags == 0);
}

TEST_CASE("kernel_environment: exploration takes the action that seed and iteration say") {
  ON_EVERY_DEVICE(device);
  constexpr int actions = 7;
  const TestBuffer<float> q(device, std::vector<float>(episodes * actions, 0.0f)),
      isv(device, isv_with({{isv_epsilon, 0.5f}}));
  TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, 12}}));
  TestBuffer<std::int32_t> action(device, episodes);
  launch_guarded(device, select_actions_kernel, q, isv, counters, action, episodes, actions, std::uint64_t{9});
  const auto taken = action.download();
  for (int e = 0; e < episodes; ++e) {
    const auto random = random_words(9, 12, e, Purpose::exploration);
    REQUIRE(taken[static_cast<std::size_t>(e)] == (random.uniform(0) < 0.5f ? random.below(1, actions) : 0));
  }
}

TEST_CASE("kernel_replay: draws are those that seed and iteration say") {
  ON_EVERY_DEVICE(device);
  Ring ring(4, 8);
  ring.priority.assign(32, 1.0f);  // one group: the last of four words alone decides
  const auto drawn = ring.draw(device, 300, 21).index;
  for (int b = 0; b < 300; ++b)
    REQUIRE(drawn[static_cast<std::size_t>(b)] ==
            static_cast<int>(random_words(ring.seed, 21, b, Purpose::sampling).uniform(3) * 32.0f));
}
