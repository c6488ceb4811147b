#include <cmath>

#include "core/dqn/performance.h"
#include "tests/catch.h"

using namespace foxhunt;

TEST_CASE("performance: money, drawdown, Sharpe and actions of two sessions by hand") {
  dqn::SessionRecord rising, falling;
  rising.net = {10, 20, -5};
  rising.action = {0, 2, 2};
  rising.gross = 30;
  rising.trades = 2;
  falling.net = {-10, -5, 5};
  falling.action = {1, 1, 2};
  falling.gross = -6;
  falling.trades = 1;
  const dqn::SessionRecord sessions[] = {rising, falling};
  const dqn::Performance p = dqn::measure(sessions, 3);
  REQUIRE(p.net == 15);
  REQUIRE(p.gross == 24);
  REQUIRE(p.costs == 9);
  REQUIRE(p.trades == 3);
  REQUIRE(p.steps == 6);
  REQUIRE(p.sessions == 2);
  // Peak 30 after two steps, then -5, -10, -5: down to 10.
  REQUIRE(p.max_drawdown == 20);
  // Session gains 25 and -10: mean 7.5, sample deviation 35 / sqrt(2).
  REQUIRE(p.sharpe == Approx(7.5 / (35 / std::sqrt(2.0)) * std::sqrt(252.0)));
  REQUIRE(p.actions == std::vector<std::int64_t>{1, 2, 3});
  REQUIRE(p.action_entropy ==
          Approx(-(1 / 6.0) * std::log(1 / 6.0) - (2 / 6.0) * std::log(2 / 6.0) - (3 / 6.0) * std::log(3 / 6.0)));
}

TEST_CASE("performance: one session has no Sharpe ratio, none has nothing") {
  dqn::SessionRecord one;
  one.net = {1};
  one.action = {0};
  REQUIRE(std::isnan(dqn::measure(std::span(&one, 1), 2).sharpe));
  const dqn::Performance none = dqn::measure({}, 2);
  REQUIRE(none.net == 0);
  REQUIRE(none.action_entropy == 0);
}
