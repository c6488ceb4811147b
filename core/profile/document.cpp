#include "core/profile/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "core/profile/printer.h"
#include "core/profile/toml.h"
#include "core/profile/value.h"

namespace foxhunt::profile {
namespace {

constexpr std::size_t largest_file = 1 << 20, longest_name = 1024;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", where, what));
}

/// What a message shows of a name or an argument: one line, however long it is.
std::string shown(const std::string& text) {
  constexpr std::size_t longest = 100;
  return printable(text.size() <= longest ? text : text.substr(0, longest) + "...");
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

/// "; did you mean X?" or what there is to choose from.
std::string hint(const std::string& near, const std::string& choices) {
  return near.empty() ? fmt::format("; known: {}", choices) : fmt::format("; did you mean {}?", near);
}

[[noreturn]] void unknown_key(const std::string& where, const std::string& name) {
  std::vector<std::string> neighbours;
  for (const Key& key : schema()) {
    if (section_of(key.name) == section_of(name)) neighbours.push_back(key.name);
  }
  std::string near = nearest_key(name);
  if (section_of(name).empty()) {
    neighbours.push_back("extends");  // the one key that is the loader's own
    if (edit_distance(name, "extends") <= 2) near = "extends";
  }
  fail(where, fmt::format("unknown key {}{}", shown(name), hint(near, joined(neighbours))));
}

std::string trimmed(const std::string& text) {
  constexpr const char* blank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blank);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blank) + 1 - begin);
}

/// Line `number` of a file, counted from 1; at most 80 characters of it.
std::string line_of(const std::string& text, std::size_t number) {
  std::size_t begin = 0;
  for (std::size_t line = 1; line < number && begin < text.size(); ++line) {
    begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
  }
  return text.substr(begin, std::min<std::size_t>(text.find_first_of("\r\n", begin) - begin, 80));
}

/// A key or a foreign section of a parsed file, by its dotted name.
struct Entry {
  std::string name;
  const toml::node* node;
};

/// A part of a dotted name as TOML spells it: quoted unless bare, so that "training.gamma" in quotes is not the key
/// gamma of [training], and a message stays one line.
std::string part_text(std::string_view part) {
  const bool bare = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) || c == '_' || c == '-');
  });
  return bare ? std::string(part) : toml_text(std::string(part));
}

std::vector<Entry> entries_by_line(const toml::table& table) {
  std::vector<Entry> found;
  for (const auto& [name, node] : table) {
    const std::string top = part_text(name.str());
    const toml::table* section = is_section(top) ? node.as_table() : nullptr;
    if (!section) {
      found.push_back({top, &node});
      continue;
    }
    for (const auto& [leaf, value] : *section) {
      found.push_back({fmt::format("{}.{}", top, part_text(leaf.str())), &value});
    }
  }
  const auto position = [](const Entry& entry) {
    const toml::source_position begin = entry.node->source().begin;
    return std::pair(begin.line, begin.column);
  };
  std::sort(found.begin(), found.end(), [&](const Entry& a, const Entry& b) { return position(a) < position(b); });
  return found;
}

[[noreturn]] void unknown_entry(const Entry& entry, const std::string& where) {
  if (is_section(entry.name)) {
    fail(where, fmt::format("{0} is a section: expected [{0}] with its keys below it", entry.name));
  }
  const bool table = entry.node->is_table() || entry.node->is_array_of_tables();
  if (!table || !section_of(entry.name).empty()) unknown_key(where, entry.name);
  const std::string near = nearest_name(entry.name, section_names());
  fail(where, fmt::format("unknown section [{}]{}", shown(entry.name),
                          hint(near.empty() ? near : "[" + near + "]", joined(section_names()))));
}

toml::table parse(const std::string& text, const std::string& file) {
  try {
    return toml::parse(std::string_view(text), std::string_view(file));
  } catch (const toml::parse_error& error) {
    const std::size_t number = error.source().begin.line;
    fail(fmt::format("{}:{}", file, number),
         fmt::format("not TOML: {}; the line reads: {}", printable(std::string(error.description())),
                     printable(line_of(text, number))));
  }
}

/// The node of `value = TEXT`, or nothing when that is not one TOML value.
std::optional<toml::table> parse_value(const std::string& text) {
  try {
    toml::table table = toml::parse(std::string_view("value = " + text));
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {}
  return std::nullopt;
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) fail(file.string(), "is a folder; expected a profile file");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(file.string(), fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text(largest_file + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) fail(file.string(), "cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > largest_file) fail(file.string(), "is larger than 1 MiB; expected a profile file");
  return text;
}

Document read_document(const std::filesystem::path& file) { return parse_document(read_text(file), file); }

Document parse_document(const std::string& text, const std::filesystem::path& file) {
  const toml::table table = parse(text, file.string());
  Document document{.file = file, .extends = "", .extends_where = "", .settings = {}};
  for (const Entry& entry : entries_by_line(table)) {
    const std::string where = fmt::format("{}:{}", file.string(), entry.node->source().begin.line);
    if (entry.name == "extends") {
      const auto* parent = entry.node->as_string();
      if (!parent || parent->get().empty() || parent->get().size() > longest_name || !is_one_line(parent->get()))
        fail(where, "extends: expected the name or file of a profile in quotes");
      document.extends = parent->get();
      document.extends_where = where;
    } else if (const Key* key = find_key(entry.name)) {
      document.settings.push_back({key, read_value(*key, *entry.node, where), where});
    } else {
      unknown_entry(entry, where);
    }
  }
  return document;
}

Setting read_override(const std::string& argument) {
  const std::string where = "--set " + shown(argument);
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) fail(where, "expected key=value, for example training.gamma=0.98");
  const std::string name = trimmed(argument.substr(0, equals));
  const std::string text = trimmed(argument.substr(equals + 1));
  if (name == "extends") fail(where, "extends belongs in a profile file");
  if (is_section(name)) fail(where, fmt::format("{0} is a section; expected one of its keys, {0}.KEY=VALUE", name));
  const Key* key = find_key(name);
  if (!key) unknown_key(where, name);

  std::optional<toml::table> parsed = parse_value(text);
  if (!parsed && std::holds_alternative<std::string>(key->fallback)) parsed = parse_value(toml_text(text));
  if (!parsed)
    fail(where,
         fmt::format("{}: expected {}, got {}", name, expected_text(*key), text.empty() ? "nothing" : shown(text)));
  return {key, read_value(*key, *parsed->get("value"), where), where};
}

}  // namespace foxhunt::profile
