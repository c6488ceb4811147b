#include "core/run/early_stopping.h"

#include <limits>

#include "tests/catch.h"

using foxhunt::run::EarlyStopping;
using Decision = EarlyStopping::Decision;
using Reason = EarlyStopping::Reason;

TEST_CASE("dqn_early_stopping_termination: patience runs out") {
  EarlyStopping stopping(3, 0.0);
  REQUIRE(stopping.update(-5.0) == Decision::improved);
  REQUIRE(stopping.update(2.0) == Decision::improved);
  REQUIRE(stopping.update(1.0) == Decision::no_improvement);
  REQUIRE(stopping.update(2.0) == Decision::no_improvement);
  REQUIRE(stopping.reason_text().empty());
  REQUIRE(stopping.update(0.0) == Decision::stop);
  REQUIRE(stopping.state().reason == Reason::patience);
  REQUIRE(stopping.reason_text() == "no gain of more than 0 in 3 evaluations; best 2 at evaluation 1");
  REQUIRE(stopping.best() == 2.0);
  REQUIRE(stopping.best_index() == 1);
  REQUIRE(stopping.update(100.0) == Decision::stop);
  REQUIRE(stopping.best() == 2.0);
}

TEST_CASE("dqn_early_stopping_termination: a gain below min_delta does not count") {
  EarlyStopping stopping(2, 0.5);
  REQUIRE(stopping.update(1.0) == Decision::improved);
  REQUIRE(stopping.update(1.5) == Decision::no_improvement);
  REQUIRE(stopping.best() == 1.0);
  REQUIRE(stopping.update(1.25) == Decision::stop);

  EarlyStopping fresh(2, 0.5);
  fresh.update(1.0);
  REQUIRE(fresh.update(1.75) == Decision::improved);
  REQUIRE(fresh.best() == 1.75);
}

TEST_CASE("dqn_early_stopping_termination: a NaN metric stops at once with its own reason and the best is kept") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  for (const double broken : {kNaN, kInfinity, -kInfinity}) {
    EarlyStopping stopping(10, 0.0);
    REQUIRE(stopping.update(3.0) == Decision::improved);
    REQUIRE(stopping.update(broken) == Decision::stop);
    REQUIRE(stopping.state().reason == Reason::not_finite);
    REQUIRE(stopping.reason_text().find("at evaluation 1; best 3 at evaluation 0") != std::string::npos);
    REQUIRE(stopping.best() == 3.0);
    REQUIRE(stopping.best_index() == 0);
    REQUIRE(stopping.update(4.0) == Decision::stop);
    REQUIRE(stopping.best() == 3.0);

    EarlyStopping first(10, 0.0);
    REQUIRE(first.update(broken) == Decision::stop);
    REQUIRE(first.best_index() == -1);
  }
}

TEST_CASE("dqn_early_stopping_termination: an improvement starts the patience anew") {
  EarlyStopping stopping(2, 0.0);
  for (int i = 0; i < 10; ++i) {
    REQUIRE(stopping.update(i) == Decision::improved);
    REQUIRE(stopping.update(i - 0.5) == Decision::no_improvement);
  }
  REQUIRE(stopping.best() == 9.0);
  REQUIRE(stopping.update(8.0) == Decision::stop);
}

TEST_CASE("early_stopping: restored at any point, it decides as if never stopped") {
  const double metrics[] = {0.0, 1.0, 0.5, 2.0, 1.9, 1.8, 1.7, 5.0};
  for (std::size_t cut = 0; cut < std::size(metrics); ++cut) {
    EarlyStopping whole(3, 0.1), before(3, 0.1), after(3, 0.1);
    for (std::size_t i = 0; i < std::size(metrics); ++i) {
      if (i == cut) after.restore(before.state());
      const Decision expected = whole.update(metrics[i]);
      REQUIRE((i < cut ? before : after).update(metrics[i]) == expected);
    }
    REQUIRE(after.best_index() == whole.best_index());
    REQUIRE(after.reason_text() == whole.reason_text());
  }
}

TEST_CASE("early_stopping: restored with more patience, a stop for want of it is taken back, and other stops stay") {
  EarlyStopping impatient(2, 0.0);
  for (const double metric : {3.0, 2.0, 1.0}) impatient.update(metric);
  REQUIRE(impatient.stopped());
  EarlyStopping same(2, 0.0), patient(3, 0.0);
  same.restore(impatient.state());
  REQUIRE(same.stopped());
  patient.restore(impatient.state());
  REQUIRE_FALSE(patient.stopped());
  REQUIRE(patient.update(0.5) == EarlyStopping::Decision::stop);
  impatient = EarlyStopping(9, 0.0);
  impatient.update(std::numeric_limits<double>::quiet_NaN());
  patient.restore(impatient.state());
  REQUIRE(patient.stopped());
}

TEST_CASE("early_stopping: where a profile has it off, the best is looked for without end") {
  foxhunt::profile::Profile::EarlyStopping options{.enabled = true, .metric = "net_pnl", .patience = 2, .min_delta = 0};
  for (const bool enabled : {true, false}) {
    options.enabled = enabled;
    EarlyStopping stopping(options);
    for (const double metric : {3.0, 2.0, 1.0, 0.0}) stopping.update(metric);
    REQUIRE(stopping.stopped() == enabled);
    REQUIRE((stopping.update(4.0) == Decision::improved) == !enabled);
  }
}
