#pragma once
#include <string>
#include <vector>

#include "core/profile/profile.h"

namespace foxhunt::profile {

/// Reads back what to_toml wrote, then applies `overrides` as given to --set, then every check. A key that the text
/// does not know, of a program older than the key, has its default. `origin` is what errors name. Throws Error(usage).
Profile read_resolved_profile(const std::string& toml, const std::string& origin,
                              const std::vector<std::string>& overrides = {});

}  // namespace foxhunt::profile
