#pragma once
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/error.h"
#include "core/profile/profile.h"

namespace foxhunt::dqn {

/// How a profile's device is opened; FOXHUNT_GRAPHS=0 in the environment turns graphs off.
DeviceOptions device_options(const profile::Profile& profile);

struct TrainingRunOptions {
  std::vector<std::string> command_line;  ///< recorded in the run directory
  bool quiet = false;                     ///< no progress, no tables
};

/// One whole run: device, data, memory, training, evaluation, checks, summary. Returns ok, check_failed, interrupted or
/// terminated; every other end is an Error.
ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options);

}  // namespace foxhunt::dqn
