#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "core/alpha/trainer.h"

namespace foxhunt::alpha {

/// What a finished run is summed up from.
struct RunSummary {
  const profile::Profile& profile;
  const Dataset& data;
  const Device& device;
  const Trainer& trainer;
  const Outcome& outcome;
  const run::CheckList& checks;
  const run::PhaseTimer& phases;
  const run::RunDirectory& directory;
};

nlohmann::ordered_json summary_json(const RunSummary& summary);
/// For a person: scores on held-out data, the gate's table and verdict, phases and their times, checks.
std::string summary_text(const RunSummary& summary);

}  // namespace foxhunt::alpha
