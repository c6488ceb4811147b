#pragma once
#include "core/run/training_state.h"
#include "tests/catch.h"

namespace foxhunt::test {

/// What the training states of every model have in common, but for times.
inline void require_same_training(const run::TrainingState& a, const run::TrainingState& b) {
  REQUIRE((a.persistent == b.persistent));
  REQUIRE((a.guard.good == b.guard.good));
  REQUIRE(a.guard.trips == b.guard.trips);
  REQUIRE(a.guard.rollbacks == b.guard.rollbacks);
  REQUIRE(a.guard.kept_at == b.guard.kept_at);
  REQUIRE(a.early_stopping.best == b.early_stopping.best);
  REQUIRE(a.early_stopping.evaluations == b.early_stopping.evaluations);
}

}  // namespace foxhunt::test
