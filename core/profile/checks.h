#pragma once
#include <map>
#include <string>

#include "core/profile/profile.h"

namespace foxhunt::profile {

/// Where each key that was set got its value: dotted name -> "dqn.toml:12" or "--set ...".
using Origins = std::map<std::string, std::string>;

/// The rules that tie keys together (capacities, intervals, splits, actions). Throws Error(usage) that names both keys,
/// their values and where they were set.
void check_profile(const Profile& profile, const Origins& origins);

}  // namespace foxhunt::profile
