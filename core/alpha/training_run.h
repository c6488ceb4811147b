#pragma once
#include "core/run/resume.h"
#include "core/run/training_run.h"

namespace foxhunt::alpha {

/// One whole run: device, data, memory, training, gate, checks, summary. A seed that is not set is drawn first. Returns
/// ok, check_failed, gate, interrupted or terminated; every other end is an Error.
ExitCode run_training(const profile::Profile& profile, const run::TrainingRunOptions& options);

/// The same for a run that was stopped or killed, from a checkpoint on, in its own folder: it ends with the bits of a
/// run that was never stopped.
ExitCode resume_training(run::ResumePoint point, const run::TrainingRunOptions& options);

/// Loads everything a run needs, takes its memory and runs one training step; writes nothing. Prints the data report,
/// the memory plan, the schedule and how the step went. Throws as run_training does.
void dry_run(const profile::Profile& profile, const run::TrainingRunOptions& options);

}  // namespace foxhunt::alpha
