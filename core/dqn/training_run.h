#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/dqn/market_loader.h"
#include "core/dqn/resume.h"
#include "core/profile/profile.h"
#include "core/run/repeat.h"

namespace foxhunt::dqn {

/// How a profile's device is opened; FOXHUNT_GRAPHS=0 in the environment turns graphs off.
DeviceOptions device_options(const profile::Profile& profile);

struct TrainingRunOptions {
  std::vector<std::string> command_line;  ///< recorded in the run directory
  bool quiet = false;                     ///< no progress, no tables
  bool json = false;  ///< the last line of standard output is the summary as one JSON object with exit_code and run
  std::optional<run::RunRecord> repeats{};  ///< this run has to find the same data, and says how it compares
};

/// One whole run: device, data, memory, training, evaluation, checks, summary. A seed that is not set is drawn first.
/// Returns ok, check_failed, interrupted or terminated; every other end is an Error.
ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options);

/// The same for a run that was stopped or killed, from its newest checkpoint on, in its own folder: it ends with the
/// bits of a run that was never stopped.
ExitCode resume_training(const ResumeRequest& request, const TrainingRunOptions& options);

/// How a profile wants its device; FOXHUNT_GRAPHS=0 in the environment turns recorded graphs off.
DeviceOptions device_options(const profile::Profile& profile);

/// What tells the data that a run was trained on, recorded with it: {"source", "files", "bytes", "xxh64"}. Reads every
/// byte. Throws Error(data).
nlohmann::ordered_json data_report(const std::filesystem::path& source);

}  // namespace foxhunt::dqn
