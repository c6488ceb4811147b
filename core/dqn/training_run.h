#pragma once
#include "core/run/resume.h"
#include "core/run/training_run.h"

namespace foxhunt::dqn {

using run::TrainingRunOptions;

/// One whole run: device, data, memory, training, evaluation, checks, summary. A seed that is not set is drawn first.
/// Returns ok, check_failed, interrupted or terminated; every other end is an Error.
ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options);

/// The same for a run that was stopped or killed, from a checkpoint on, in its own folder: it ends with the
/// bits of a run that was never stopped.
ExitCode resume_training(run::ResumePoint point, const TrainingRunOptions& options);

}  // namespace foxhunt::dqn
