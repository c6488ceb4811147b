#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "core/dqn/performance.h"
#include "core/profile/profile.h"

namespace foxhunt::dqn {

/// A policy's result as summary.json and `eval` hold it (README, "A run"). `positions` are the actions' contracts.
nlohmann::ordered_json performance_json(const Performance& performance, std::span<const double> positions);
/// Contracts of each action, of a profile.
std::vector<double> action_positions(const profile::Profile& profile);

/// The columns of performance_row under a title, with a line feed.
std::string performance_header(const std::string& title);
std::string performance_row(const std::string& name, const Performance& performance);

}  // namespace foxhunt::dqn
