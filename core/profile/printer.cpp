#include "core/profile/printer.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "core/error.h"

namespace foxhunt::profile {
namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::int64_t value) { return fmt::format("{}", value); }

std::string text_of(double value) {
  std::string text = fmt::format("{}", value);  // shortest form that reads back to the same double
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "";
}

std::string text_of(const std::string& value) {
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += fmt::format("\\{}", c);
    } else if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\u{:04X}", byte);
    } else {
      text += c;
    }
  }
  return text + '"';
}

template <class T>
std::string text_of(const std::vector<T>& list) {
  std::string text;
  for (const T& element : list) text += (text.empty() ? "" : ", ") + text_of(element);
  return "[" + text + "]";
}

/// "Discount per step; steps; [0, 1]"
std::string comment(const Key& key) {
  std::string text = key.help;
  if (!key.unit.empty()) text += fmt::format(" [{}]", key.unit);
  if (const std::string range = range_text(key); !range.empty()) text += fmt::format(": {}", range);
  return text;
}

}  // namespace

std::string toml_text(const Value& value) {
  return std::visit([](const auto& typed) { return text_of(typed); }, value);
}

std::string to_toml(const Profile& profile) {
  std::string text;
  std::string_view section;
  for (const Key& key : schema()) {
    if (section_of(key.name) != section) {
      section = section_of(key.name);
      text += fmt::format("\n[{}]\n", section);
    }
    const std::string value = toml_text(value_of(key, profile));
    const std::string line = fmt::format("{}{} = {}", value.empty() ? "# " : "", leaf_of(key.name), value);
    text += fmt::format("{:<35} # {}\n", line, comment(key));
  }
  return text;
}

void print_reference(std::ostream& out, const std::string& only) {
  if (!only.empty() && !find_key(only) && !is_section(only)) {
    const std::string section = nearest_name(only, section_names());
    const std::string near = section.empty() ? nearest_key(only) : section;
    throw Error(ExitCode::usage, fmt::format("no key or section {}{}", only,
                                             near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
  const auto code = [](const std::string& text) { return text.empty() ? "" : fmt::format("`{}`", text); };
  fmt::print(out, "| key | type | default | range | unit | meaning |\n|---|---|---|---|---|---|\n");
  for (const Key& key : schema()) {
    if (!only.empty() && key.name != only && section_of(key.name) != only) continue;
    fmt::print(out, "| `{}` | {} | {} | {} | {} | {} |\n", key.name, type_name(key), code(toml_text(key.fallback)),
               code(range_text(key)), key.unit, key.help);
  }
}

}  // namespace foxhunt::profile
