#include "core/profile/resolved_profile.h"

#include "core/profile/checks.h"
#include "core/profile/document.h"

namespace foxhunt::profile {

Profile read_resolved_profile(const std::string& toml, const std::string& origin,
                              const std::vector<std::string>& overrides) {
  Profile profile = default_profile();
  Origins origins;
  const auto apply = [&](const Setting& setting) {
    set_value(*setting.key, setting.value, profile);
    origins[setting.key->name] = setting.where;
  };
  for (const Setting& setting : parse_document(toml, origin).settings) apply(setting);
  for (const std::string& argument : overrides) apply(read_override(argument));
  check_profile(profile, origins);
  return profile;
}

}  // namespace foxhunt::profile
