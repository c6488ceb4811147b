#include <algorithm>
#include <cmath>

#include "tests/dqn/scripted_run.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

dqn::LoadedMarket synthetic(const std::vector<std::string>& overrides = {}) {
  market::SynthOptions options;
  options.sessions = 12;
  options.seed = seed();
  return dqn::make_market(market::synthesize(options), smoke_profile(overrides));
}

}  // namespace

TEST_CASE("env: one ES contract over a row is fifty dollars a point, costs are half a tick and the commission") {
  const dqn::LoadedMarket m = synthetic();
  const double points = 1e9;
  std::size_t checked = 0;
  for (std::size_t i = 0; i + 1 < m.tape.rows(); ++i) {
    REQUIRE(m.tables.cost[i] == Approx(50.0 * 0.125 + m.contract.commission));
    if (m.tables.flags[i] & market_last) continue;
    const double move = static_cast<double>(m.tape.mid[i + 1] - m.tape.mid[i]) / points;
    REQUIRE(static_cast<double>(m.tables.open_gap[i]) + static_cast<double>(m.tables.hold_gap[i]) ==
            Approx(50.0 * move).margin(1e-9));
    ++checked;
  }
  REQUIRE(checked > 3000);
}

TEST_CASE("env: slippage is paid in ticks") {
  const dqn::LoadedMarket none = synthetic(), two = synthetic({"contract.slippage_ticks=2"});
  REQUIRE(two.tables.cost[5] - none.tables.cost[5] == Approx(2 * 0.25 * 50.0));
}

TEST_CASE("env: a row that ends a session, precedes a roll or ends a split is a last row") {
  const dqn::LoadedMarket m = synthetic();
  std::size_t rolls = 0, ends = 0;
  for (std::size_t i = 0; i + 1 < m.tape.rows(); ++i) {
    const bool last = m.tables.flags[i] & market_last;
    const bool rolled = m.tape.instrument[i] != m.tape.instrument[i + 1];
    const bool ended = m.tape.session[i] != m.tape.session[i + 1];
    if (rolled || ended) REQUIRE(last);
    rolls += rolled;
    ends += ended;
  }
  REQUIRE(rolls == 1);
  REQUIRE(ends >= 12);
  for (const market::Split* split : {&m.splits.train, &m.splits.validation, &m.splits.test})
    REQUIRE((m.tables.flags[static_cast<std::size_t>(split->end) - 1] & market_last));
  for (const std::int32_t row : m.tables.train_starts) {
    REQUIRE(row >= m.splits.train.begin);
    REQUIRE(row < m.splits.train.end);
    REQUIRE_FALSE(m.tables.flags[static_cast<std::size_t>(row)] & market_last);
  }
}

TEST_CASE("env: evaluation lanes cover a split session by session and stay inside it") {
  const dqn::LoadedMarket m = synthetic();
  std::int64_t covered = 0;
  for (const std::int32_t first : m.tables.test.start_rows) {
    std::size_t i = static_cast<std::size_t>(first);
    while (!(m.tables.flags[i] & market_last)) ++i;
    REQUIRE(static_cast<std::int64_t>(i) < m.splits.test.end);
    REQUIRE(m.tape.session[i] == m.tape.session[static_cast<std::size_t>(first)]);
    REQUIRE(static_cast<int>(i) - first + 1 <= m.tables.test.longest);
    covered += static_cast<std::int64_t>(i) - first + 1;
  }
  REQUIRE(covered == m.splits.test.rows());
}

TEST_CASE("env: a split without a tradable row is a data error that says what to change") {
  market::SynthOptions options;
  options.sessions = 3;
  options.seed = 1;
  const auto refuse = [&] {
    return dqn::make_market(market::synthesize(options),
                            smoke_profile({"training.gpu_timesteps_per_episode=2000", "training.min_replay_size=64"}));
  };
  try {
    refuse();
    FAIL("a split shorter than an episode was accepted");
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::data);
    REQUIRE(std::string(error.what()).find("split") != std::string::npos);
  }
}

TEST_CASE(
    "env: held through every session, one ES contract gains $50 a point from first fill to last mid, less costs") {
  const dqn::LoadedMarket m = synthetic();
  const auto [starts, longest] = EveryLane(m);  // the session before the roll and the halved one included
  REQUIRE(starts.size() >= 13);
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    for (const auto& [action, side] : {std::pair{2, 1.0}, std::pair{0, -1.0}, std::pair{1, 0.0}}) {
      const ScriptedRun run = run_scripted(name, m, starts, longest + 3, action);
      for (std::size_t lane = 0; lane < starts.size(); ++lane) {
        const std::size_t last = end_of_lane(m, starts[lane]);
        const auto first = static_cast<std::size_t>(starts[lane]);
        const double points = static_cast<double>(m.tape.mid[last] - m.tape.fill_mid[first]) / 1e9;
        const double costs = 2 * (50 * 0.125 + m.contract.commission) * std::abs(side);
        REQUIRE(run.state[lane].gross == Approx(side * 50 * points).margin(1e-6));
        REQUIRE(run.state[lane].equity == Approx(side * 50 * points - costs).margin(1e-3));
        REQUIRE(run.reward_dollars[lane] == Approx(run.state[lane].equity).margin(0.01));
        // Closed before the session, the roll or the split ends, and paid for: no jump after it is booked.
        REQUIRE(run.state[lane].position == 0.0f);
        REQUIRE(run.state[lane].trades == (side == 0 ? 0 : 2));
      }
    }
  }
}
