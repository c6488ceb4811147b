#include "core/profile/difference.h"

#include <fmt/format.h>

#include <algorithm>

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

std::string side_by_side(const SideBySide& headline, const std::vector<SideBySide>& rows) {
  std::size_t name = headline.name.size(), first = std::max<std::size_t>(1, headline.first.size());
  for (const SideBySide& row : rows) {
    name = std::max(name, row.name.size());
    first = std::max(first, row.first.size());
  }
  const auto shown = [](const std::string& text) { return text.empty() ? "-" : text; };
  const auto line = [&](const SideBySide& row) {
    return fmt::format("{:<{}}  {:<{}}  {}\n", row.name, name, shown(row.first), first, shown(row.second));
  };
  std::string text = line(headline);
  for (const SideBySide& row : rows) text += line(row);
  return text;
}

}  // namespace foxhunt::profile
