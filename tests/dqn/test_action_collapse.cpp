// An agent that takes one action whatever it sees has learned nothing (tensorflow/agents#636). These markets have
// a known right answer, and the conservative term is what keeps the values of actions rarely taken from running away.
#include <algorithm>
#include <cmath>

#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

const std::vector<std::string> learning = {"training.gpu_n_episodes=16",         "training.buffer_size=8192",
                                           "replay_buffer.buffer_size=8192",     "training.batch_size=64",
                                           "training.min_replay_size=256",       "optimizer.learning_rate=1e-3",
                                           "exploration.epsilon_iterations=400", "data.purge_rows=60",
                                           "environment.actions=[-1, 0, 1]",     "contract.commission=0.5"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::string& more) {
  overrides.push_back(more);
  return overrides;
}

}  // namespace

TEST_CASE("dqn_action_collapse: on a reverting market the greedy policy does not settle on one action, and earns") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::revert, learning);
    training->trainer.advance(1200);
    const dqn::Performance p = dqn::measure(training->trainer.test().run(), training->trainer.account());
    CAPTURE(p.actions, p.net, p.action_entropy);
    REQUIRE(p.action_entropy > 0.3);
    const std::int64_t most = *std::max_element(p.actions.begin(), p.actions.end());
    REQUIRE(static_cast<double>(most) < 0.95 * static_cast<double>(p.steps));
    REQUIRE(p.gross > 0);
  }
}

TEST_CASE("dqn_action_collapse: where one action is right 95% of the time the agent finds that one") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::skewed, learning);
    training->trainer.advance(1000);
    const dqn::Performance p = dqn::measure(training->trainer.test().run(), training->trainer.account());
    CAPTURE(p.actions, p.net);
    REQUIRE(static_cast<double>(p.actions[2]) > 0.8 * static_cast<double>(p.steps));
    REQUIRE(p.net > 0);
  }
}

TEST_CASE("dqn_action_collapse: the conservative term narrows the gap between untaken and taken actions") {
  const auto gap = [](const std::string& device, const std::string& weight) {
    // Replay full of one action: what a collapsed agent leaves behind.
    const auto training = synthetic_training(
        device, market::MarketKind::walk,
        with(with(with(learning, "exploration.epsilon_start=0.05"), "exploration.epsilon_end=0.05"), weight));
    double sum = 0;
    for (int i = 0; i < 20; ++i) {
      training->trainer.advance(30);
      if (i >= 10) sum += static_cast<double>(training->trainer.agent().health().isv[isv_cql_loss]);
    }
    return sum / 10;
  };
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const double without = gap(name, "loss.cql_weight=0"), with_term = gap(name, "loss.cql_weight=1");
    CAPTURE(without, with_term);
    REQUIRE(with_term < 0.7 * without);
  }
}
