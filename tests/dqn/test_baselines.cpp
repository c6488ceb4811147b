// Policies that learn nothing, run through the environment as the agent is.
#include "core/dqn/baselines.h"

#include <cmath>

#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr std::int64_t momentum_rows = 3;

std::map<std::string, dqn::Policy> by_name(const market::Tape& tape, std::span<const float> positions,
                                           std::uint64_t random_seed = 1) {
  std::map<std::string, dqn::Policy> policies;
  for (dqn::Baseline& b : dqn::baselines(tape, positions, momentum_rows, random_seed)) policies[b.name] = b.policy;
  return policies;
}

/// A tape of the given mids and sessions.
market::Tape tape_of(std::vector<std::int64_t> mid, std::vector<std::int32_t> session) {
  market::Tape tape;
  tape.ts.resize(mid.size());
  tape.mid = std::move(mid);
  tape.session = std::move(session);
  return tape;
}

const std::vector<float> five = {-2, -1, 0, 1, 2};

}  // namespace

TEST_CASE("baselines: flat holds nothing, buy_and_hold the largest position, whatever the order of the actions") {
  const market::Tape tape = tape_of({1, 2}, {0, 0});
  REQUIRE(by_name(tape, five).at("flat")(0) == 2);
  REQUIRE(by_name(tape, five).at("buy_and_hold")(0) == 4);
  const std::vector<float> shuffled = {0, 3, -1};
  REQUIRE(by_name(tape, shuffled).at("flat")(1) == 0);
  REQUIRE(by_name(tape, shuffled).at("buy_and_hold")(1) == 1);
}

TEST_CASE("baselines: momentum follows the sign over its rows, within the session, by what is known") {
  //                                rows 0  1  2  3  4  5 |6  7  8  9  10
  const market::Tape tape = tape_of({10, 9, 9, 11, 8, 9, 5, 6, 6, 4, 6}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1});
  const dqn::Policy momentum = by_name(tape, five).at("momentum");
  const std::vector<std::int32_t> right = {2, 2, 2, 4, 0, 2, 2, 2, 2, 0, 2};
  for (std::size_t i = 0; i < right.size(); ++i) {
    CAPTURE(i);
    REQUIRE(momentum(static_cast<std::int64_t>(i)) == right[i]);
    // Another future changes nothing.
    market::Tape other = tape;
    for (std::size_t j = i + 1; j < other.rows(); ++j) other.mid[j] = 1000 - other.mid[j];
    REQUIRE(by_name(other, five).at("momentum")(static_cast<std::int64_t>(i)) == right[i]);
  }
}

TEST_CASE("baselines: random takes every action about equally often, and is a function of the seed") {
  const market::Tape tape = tape_of({}, {});
  const dqn::Policy one = by_name(tape, five, seed()).at("random"),
                    other = by_name(tape, five, seed() + 1).at("random");
  std::vector<int> count(5);
  int same = 0, repeats = 0;
  constexpr int rows = 20000;
  for (std::int64_t row = 0; row < rows; ++row) {
    ++count.at(static_cast<std::size_t>(one(row)));
    REQUIRE(one(row) == one(row));
    same += one(row) == other(row);
    repeats += one(row) == one(row + 1);
  }
  // Binomial with p = 1/5: deviation 57 of 4,000.
  for (const int n : {count[0], count[1], count[2], count[3], count[4], same, repeats}) {
    CAPTURE(n);
    REQUIRE(std::abs(n - rows / 5) < 300);
  }
}

TEST_CASE("baselines: the environment takes a policy's action at every row of the split, and the agent is untouched") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::walk);
    dqn::Trainer& trainer = training->trainer;
    dqn::Evaluator& test = trainer.test();
    const auto greedy = test.run();
    const auto policies = by_name(training->market.tape, trainer.account().positions, seed());
    for (const auto& [policy_name, policy] : policies) {
      CAPTURE(policy_name);
      const auto sessions = test.run(policy);
      REQUIRE(test.accounting_error() < 0.01);
      REQUIRE(test.nonfinite() == 0);
      REQUIRE(sessions.size() == greedy.size());
      for (std::size_t s = 0; s < sessions.size(); ++s) {
        REQUIRE(sessions[s].net.size() == greedy[s].net.size());
        REQUIRE(sessions[s].net.size() > 64);  // more than are queued at once
        bool as_told = true;
        for (std::size_t k = 0; k < sessions[s].action.size(); ++k)
          as_told = as_told && sessions[s].action[k] == policy(sessions[s].first_row + static_cast<std::int64_t>(k));
        REQUIRE(as_told);
      }
    }
    const auto again = test.run();
    for (std::size_t s = 0; s < greedy.size(); ++s) {
      REQUIRE(again[s].action == greedy[s].action);
      REQUIRE(again[s].net == greedy[s].net);
    }
  }
}

TEST_CASE("baselines: flat earns nothing, buy and hold what the market moves, momentum on a trend, random its costs") {
  const auto training = synthetic_training("host", market::MarketKind::trend);
  dqn::Trainer& trainer = training->trainer;
  const dqn::LoadedMarket& m = training->market;
  std::map<std::string, dqn::Performance> result;
  // A trend of the generator lasts about an hour: ten minutes tell where it goes.
  for (const dqn::Baseline& b : dqn::baselines(m.tape, trainer.account().positions, 10, seed()))
    result[b.name] = dqn::measure(trainer.test().run(b.policy), trainer.account());
  REQUIRE(result["flat"].net == 0);
  REQUIRE(result["flat"].trades == 0);
  REQUIRE(result["flat"].time_in_market == 0);
  REQUIRE(result["flat"].sharpe == 0);

  double points = 0;
  for (std::size_t e = 0; e < m.tables.test.start_rows.size(); ++e) {
    const auto first = static_cast<std::size_t>(m.tables.test.start_rows[e]);
    const std::size_t last = first + static_cast<std::size_t>(m.tables.test.steps[e]);
    points += static_cast<double>(m.tape.mid[last] - m.tape.fill_mid[first]) / 1e9;
  }
  const auto sessions = static_cast<double>(m.tables.test.start_rows.size());
  const dqn::Performance& hold = result["buy_and_hold"];
  REQUIRE(hold.gross == Approx(50 * points));
  REQUIRE(hold.costs == Approx(sessions * 2 * (50 * 0.125 + 2.25)).epsilon(1e-4));
  REQUIRE(hold.round_trips == hold.sessions);
  REQUIRE(hold.trades == 2 * hold.sessions);
  REQUIRE(hold.exposure == 1);
  REQUIRE(hold.time_in_market == 1);
  REQUIRE(hold.mean_holding_steps == Approx(static_cast<double>(hold.steps) / sessions));

  REQUIRE(result["momentum"].gross > 0);
  REQUIRE(result["random"].action_entropy > 1.55);  // uniform is log 5 = 1.609
  REQUIRE(result["random"].net < -0.8 * result["random"].costs);
}
