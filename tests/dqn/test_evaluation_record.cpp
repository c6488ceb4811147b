#include "core/dqn/evaluation_record.h"

#include <numeric>

#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

}  // namespace

TEST_CASE("evaluation_record: gross gains add up to each session's gross, and costs make the net") {
  const auto training = synthetic_training("host", market::MarketKind::walk);
  dqn::Trainer& trainer = training->trainer;
  const dqn::Account& account = trainer.account();
  for (const dqn::Baseline& baseline : dqn::baselines(training->market.tape, account.positions, 5, seed())) {
    INFO(baseline.name);
    for (const dqn::SessionRecord& session : trainer.test().run(baseline.policy)) {
      const std::vector<double> gross = dqn::gross_gains(session, account);
      REQUIRE(gross.size() == session.net.size());
      REQUIRE(sum(gross) == Approx(session.gross).margin(0.05));
      REQUIRE(sum(gross) >= sum(session.net) - 0.05);
      for (std::size_t k = 0; k < gross.size(); ++k) REQUIRE(gross[k] - session.net[k] >= -0.01);
    }
  }
}

TEST_CASE("evaluation_record: curves hold every step's sum and the deepest fall, however many steps a point has") {
  if (!have_baseline()) return skip("test_data/futures-baseline is not here");
  const auto training = baseline_training("host");
  dqn::Trainer& trainer = training->trainer;
  const dqn::Account& account = trainer.account();
  const auto& lanes = training->market.tables.test;
  const auto sessions = trainer.test().run([](std::int64_t row) { return static_cast<std::int32_t>(row % 5); });
  const dqn::Performance expected = dqn::measure(sessions, account);
  dqn::EvaluationRecord record(account, lanes);
  record.add_agent(sessions);
  const auto& json = record.json();
  const auto& curve = json.at("policies").at("agent");
  const auto stride = json.at("steps_per_point").get<std::int64_t>();
  REQUIRE(stride > 1);
  REQUIRE(json.at("time").size() == static_cast<std::size_t>((expected.steps + stride - 1) / stride));
  REQUIRE(json.at("time").size() <= 800);
  REQUIRE(curve.at("net").size() == json.at("time").size());
  REQUIRE(curve.at("net").back().get<double>() == Approx(expected.net).margin(0.01));
  REQUIRE(curve.at("gross").back().get<double>() == Approx(expected.gross).margin(0.05));
  double deepest = 0;
  for (const auto& fall : curve.at("drawdown")) deepest = std::max(deepest, fall.get<double>());
  REQUIRE(deepest == Approx(expected.max_drawdown).margin(0.01));
  // The first point holds the first `stride` steps and no other.
  double first = 0;
  for (std::int64_t k = 0; k < stride; ++k) first += sessions[0].net[static_cast<std::size_t>(k)];
  REQUIRE(curve.at("net").front().get<double>() == Approx(first).margin(0.01));
  REQUIRE(json.at("sessions").size() == sessions.size());
  REQUIRE(json.at("session_starts").size() == sessions.size());
}

TEST_CASE("evaluation_record: the values at the start are those that the greedy policy acts on") {
  const auto training = synthetic_training("host", market::MarketKind::walk);
  dqn::Trainer& trainer = training->trainer;
  const dqn::StateValues values = trainer.test().values_at_start();
  const auto sessions = trainer.test().run();
  const std::size_t actions = trainer.account().positions.size();
  REQUIRE(values.q.size() == sessions.size() * actions);
  for (std::size_t lane = 0; lane < sessions.size(); ++lane) {
    const auto q = std::span(values.q).subspan(lane * actions, actions);
    REQUIRE(q[static_cast<std::size_t>(sessions[lane].action.front())] == *std::max_element(q.begin(), q.end()));
  }
  dqn::EvaluationRecord record(trainer.account(), training->market.tables.test);
  record.add_values(values, trainer.agent().config());
  const auto& json = record.json().at("values");
  const auto support = json.at("support").get<std::vector<double>>();
  for (const auto& state : json.at("states"))
    for (std::size_t a = 0; a < actions; ++a) {
      const auto shares = state.at("distribution").at(a).get<std::vector<double>>();
      REQUIRE(sum(shares) == Approx(1).margin(1e-3));
      const double mean = std::inner_product(shares.begin(), shares.end(), support.begin(), 0.0);
      REQUIRE(mean == Approx(state.at("q").at(a).get<double>()).margin(1e-2));
    }
}
