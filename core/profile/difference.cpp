#include "core/profile/difference.h"

#include "core/profile/printer.h"
#include "core/profile/schema.h"

namespace foxhunt::profile {

std::vector<SideBySide> differences(const Profile& first, const Profile& second) {
  std::vector<SideBySide> rows;
  for (const Key& key : schema()) {
    if (key.name == "name" || key.name == "description") continue;
    const Value a = value_of(key, first), b = value_of(key, second);
    if (a != b) rows.push_back({key.name, toml_text(a), toml_text(b)});
  }
  return rows;
}

}  // namespace foxhunt::profile
