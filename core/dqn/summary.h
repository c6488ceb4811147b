#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "core/dqn/trainer.h"

namespace foxhunt::dqn {

/// What a finished run is summed up from.
struct RunSummary {
  const profile::Profile& profile;
  const LoadedMarket& market;
  const Device& device;
  const Trainer& trainer;
  const Outcome& outcome;
  const run::CheckList& checks;
  const run::PhaseTimer& phases;
  const run::RunDirectory& directory;
};

/// summary.json. "alpha_saw_test", of an agent with features.alpha: true, false, or null where it is not known.
nlohmann::ordered_json summary_json(const RunSummary& summary);
/// For a person: result on held-out data, phases and their times, checks.
std::string summary_text(const RunSummary& summary);

}  // namespace foxhunt::dqn
