#pragma once
#include <string>
#include <vector>

#include "core/dqn/resume.h"
#include "core/error.h"
#include "core/profile/profile.h"

namespace foxhunt::dqn {

struct TrainingRunOptions {
  std::vector<std::string> command_line;  ///< recorded in the run directory
  bool quiet = false;                     ///< no progress, no tables
};

/// One whole run: device, data, memory, training, evaluation, checks, summary. Returns ok, check_failed, interrupted or
/// terminated; every other end is an Error.
ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options);

/// The same for a run that was stopped or killed, from its newest checkpoint on, in its own folder: it ends with the
/// bits of a run that was never stopped.
ExitCode resume_training(const ResumeRequest& request, const TrainingRunOptions& options);

}  // namespace foxhunt::dqn
