#pragma once
#include <string>
#include <vector>

#include "core/profile/profile.h"

namespace foxhunt::profile {

/// Something that two profiles (or runs) have, and what it is in each, as text.
struct SideBySide {
  std::string name, first, second;
};

/// The keys whose values differ, in schema order, each value as TOML; "" for an optional key that is not set. `name`
/// and `description`, which say nothing of how a profile trains, are left out.
std::vector<SideBySide> differences(const Profile& first, const Profile& second);

}  // namespace foxhunt::profile
