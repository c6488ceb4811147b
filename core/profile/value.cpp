#include "core/profile/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/error.h"

namespace foxhunt::profile {
namespace {

constexpr std::size_t longest_text = 60;

/// A node as TOML. Lists are written here, and not for longer than is shown: for them toml++ (3.3) estimates widths by
/// conversions that are undefined for numbers below 1. Tables are not shown.
std::string full_text(const toml::node& node) {
  if (node.is_table()) return "{...}";
  std::ostringstream out;
  const toml::array* list = node.as_array();
  if (!list) {
    out << toml::toml_formatter{node, toml::format_flags::none};
    return out.str();
  }
  std::string text;
  for (const toml::node& element : *list) {
    if (text.size() > longest_text) break;
    text += (text.empty() ? "" : ", ") + full_text(element);
  }
  return "[" + text + "]";
}

/// The same as a message shows it: on one line, cut short.
std::string node_text(const toml::node& node) {
  const std::string text = full_text(node);
  return printable(text.size() <= longest_text ? text : text.substr(0, longest_text) + "...");
}

const char* kind_text(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a fractional number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

/// Reads one node for one key; every member either returns the value or throws.
class Reader {
 public:
  Reader(const Key& key, const toml::node& whole, const std::string& where) : key_(key), whole_(whole), where_(where) {}

  void read(const toml::node& node, bool& value) const {
    if (!node.is_boolean()) refuse(node);
    value = node.as_boolean()->get();
  }

  void read(const toml::node& node, std::int64_t& value) const {
    if (!node.is_integer()) refuse(node);
    value = node.as_integer()->get();
    if (!within(key_.limits, static_cast<double>(value))) refuse(node);
  }

  void read(const toml::node& node, double& value) const {
    if (!node.is_number()) refuse(node);
    value = *node.value<double>();
    if (!within(key_.limits, value)) refuse(node);
  }

  template <class T>
  void read(const toml::node& node, std::optional<T>& value) const {
    read(node, value.emplace());
  }

  void read(const toml::node& node, std::string& value) const {
    if (!node.is_string()) refuse(node);
    value = node.as_string()->get();
    if (!is_one_line(value)) refuse(node);
    if (among(key_.limits, value)) return;
    const std::string near = nearest_name(value, key_.limits.words);
    refuse(node, near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
  }

  template <class T>
  void read(const toml::node& node, std::vector<T>& value) const {
    const toml::array* list = node.as_array();
    if (!list || list->size() < key_.limits.min_length || list->size() > key_.limits.max_length) refuse(node);
    for (const toml::node& element : *list) read(element, value.emplace_back());
  }

 private:
  [[noreturn]] void refuse(const toml::node& node, const std::string& hint = "") const {
    const bool element = &node != &whole_;
    throw Error(ExitCode::usage,
                fmt::format("{}: {}: expected {}, got {} ({}){}{}", where_, key_.name, expected_text(key_),
                            node_text(node), kind_text(node), element ? " in the list" : "", hint));
  }

  const Key& key_;
  const toml::node& whole_;
  const std::string& where_;
};

}  // namespace

bool is_one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

Value read_value(const Key& key, const toml::node& node, const std::string& where) {
  Value value = key.fallback;
  std::visit(
      [&](auto& typed) {
        typed = {};
        Reader(key, node, where).read(node, typed);
      },
      value);
  return value;
}

}  // namespace foxhunt::profile
