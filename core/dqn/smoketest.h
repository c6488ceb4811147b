#pragma once
#include "core/dqn/trainer.h"

namespace foxhunt::dqn {

/// The named checks of the timed smoketest mode, over a trainer that has finished its run: each PASS or FAIL with its
/// number. Goes on training for a few iterations (the guard's check needs them), so it comes last.
run::CheckList smoketest_checks(Trainer& trainer, const profile::Profile& profile, const Outcome& outcome,
                                const run::RunDirectory& directory);

}  // namespace foxhunt::dqn
