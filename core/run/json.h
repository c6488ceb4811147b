#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace foxhunt::run {

/// JSON text of `value`: compact when `indent` < 0. JSON has no NaN and no infinity: they become the strings "NaN",
/// "Infinity" and "-Infinity", not the null that would hide which. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace foxhunt::run
