#include "app/usage_error.h"

#include <fmt/format.h>

#include <vector>

#include "core/error.h"

namespace foxhunt::app {
namespace {

/// The subcommand that the command line went down to; `path` grows by the names on the way.
const CLI::App& innermost(const CLI::App& app, std::string& path) {
  path += app.get_name();
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (chosen.empty()) return app;
  path += " ";
  return innermost(*chosen.front(), path);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string hint(const std::string& near) { return near.empty() ? "" : fmt::format("; did you mean {}?", near); }

}  // namespace

std::string usage_message(const CLI::App& app, const CLI::ParseError& error) {
  std::string path;
  const CLI::App& command = innermost(app, path);
  const std::string help = fmt::format("; see {} --help", path);

  const std::vector<std::string> left = app.remaining(true);
  for (const std::string& word : left) {
    if (!word.starts_with("-")) continue;
    const std::string option = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}{}", option, hint(nearest_name(option, option_names(command))), help);
  }
  if (!left.empty()) {
    return fmt::format("unexpected argument {}{}{}", left.front(),
                       hint(nearest_name(left.front(), command_names(command))), help);
  }
  return error.what() + help;
}

}  // namespace foxhunt::app
