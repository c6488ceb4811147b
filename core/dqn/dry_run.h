#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "core/dqn/training_run.h"

namespace foxhunt::dqn {

/// Loads everything a run needs, takes its memory and runs one iteration; writes nothing, neither a run's folder nor
/// the feature cache. Prints the data report, the memory plan, the schedule and how the iteration went. Throws as
/// run_training does.
void dry_run(const profile::Profile& profile, const TrainingRunOptions& options);

/// The course of a run in words: lengths, when updates start, what anneals, how often it is evaluated and saved.
std::string schedule_text(const profile::Profile& profile);

}  // namespace foxhunt::dqn
