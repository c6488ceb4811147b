#pragma once
#include "core/alpha/trainer.h"

namespace foxhunt::alpha {

/// What a smoke run is judged by, after Trainer::run: parameters moved, the loss fell, all of it finite, the live path
/// answers as the evaluation did, the checkpoint holds what the device does, the guard works. The model trains on by
/// one step.
run::CheckList smoketest_checks(Trainer& trainer, const Dataset& data, const Outcome& outcome,
                                const run::RunDirectory& directory);

}  // namespace foxhunt::alpha
