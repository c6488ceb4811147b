#pragma once
#include "core/run/training_run.h"

namespace foxhunt::dqn {

using run::TrainingRunOptions;

/// One whole run: device, data, memory, training, evaluation, checks, summary. A seed that is not set is drawn first.
/// Returns ok, check_failed, interrupted or terminated; every other end is an Error.
ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options);

}  // namespace foxhunt::dqn
