#pragma once
#include <iosfwd>
#include <string>

#include "core/profile/schema.h"

namespace foxhunt::profile {

/// A value as TOML that reads back to the same bits: 0.0003, [256, 256], "text". "" for an optional that is not set.
std::string toml_text(const Value& value);

/// The whole profile as TOML, every key with its help as a comment. Loading it gives an equal profile.
std::string to_toml(const Profile& profile);

/// The schema as a Markdown table: key, type, default, range, unit, meaning. `only` limits it to one section or key;
/// Error(usage) when it names neither.
void print_reference(std::ostream& out, const std::string& only = "");

}  // namespace foxhunt::profile
