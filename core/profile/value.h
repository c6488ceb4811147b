#pragma once

#include <string>

#include "core/profile/schema.h"
#include "core/profile/toml.h"

namespace foxhunt::profile {

/// The value that a TOML node gives a key, after the key's type and limits are checked. `where` ("file:12" or "--set")
/// opens the message. No conversion but integer to number: 9.0 for an integer, "32" for a number, NaN and infinity
/// throw Error(usage).
Value read_value(const Key& key, const toml::node& node, const std::string& where);

/// Whether a text has no control characters.
bool is_one_line(const std::string& text);

}  // namespace foxhunt::profile
