#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/profile/difference.h"
#include "core/profile/document.h"
#include "core/profile/loader.h"
#include "core/profile/printer.h"
#include "core/run/json.h"

namespace foxhunt::app {
namespace {

using profile::ProfilePaths;

/// What the command line said; filled before a callback runs.
struct ProfilesOptions {
  std::string profile, other, only;
  bool resolved = false, json = false, names = false;
  std::vector<std::string> overrides;
};

/// The description, or why there is none: one damaged file does not hide the others.
std::string describe(const profile::ProfileFile& file, const ProfilePaths& paths) {
  try {
    return profile::load_profile(file.file.string(), {}, paths).description;
  } catch (const Error& error) {
    return fmt::format("does not load: {}", error.what());
  }
}

void list(bool names_alone) {
  const ProfilePaths paths = ProfilePaths::standard();
  const std::vector<profile::ProfileFile> files = profile::list_profiles(paths);
  std::size_t width = 0;
  for (const profile::ProfileFile& file : files) width = std::max(width, file.name.size());
  for (const profile::ProfileFile& file : files) {
    if (names_alone) {
      fmt::print(std::cout, "{}\n", file.name);
    } else {
      fmt::print(std::cout, "{:<{}}  {}\n", file.name, width, describe(file, paths));
    }
  }
}

void show(const ProfilesOptions& options) {
  const ProfilePaths paths = ProfilePaths::standard();
  if (options.resolved) {
    std::cout << profile::to_toml(profile::load_profile(options.profile, options.overrides, paths));
  } else {
    std::cout << profile::read_text(profile::find_profile(options.profile, paths));
  }
}

void check(const ProfilesOptions& options) {
  const profile::Profile loaded = profile::load_profile(options.profile, options.overrides, ProfilePaths::standard());
  fmt::print(std::cout, "{}: ok ({})\n", options.profile, loaded.name);
}

void diff(const ProfilesOptions& options) {
  const ProfilePaths paths = ProfilePaths::standard();
  const std::vector<profile::SideBySide> rows = profile::differences(profile::load_profile(options.profile, {}, paths),
                                                                     profile::load_profile(options.other, {}, paths));
  if (options.json) {
    fmt::print(std::cout, "{}\n", run::json_text(side_by_side_json(rows)));
  } else {
    std::cout << profile::side_by_side({"key", options.profile, options.other}, rows);
  }
}

void reference(const ProfilesOptions& options) {
  if (!options.names) return profile::print_reference(std::cout, options.only);
  for (const profile::Key& key : profile::schema()) fmt::print(std::cout, "{}\n", key.name);
}

CLI::Option* add_set(CLI::App& command, ProfilesOptions& options) {
  return command.add_option("--set", options.overrides, "Override one key: dotted.key=TOML-VALUE (repeatable)")
      ->allow_extra_args(false);
}

}  // namespace

void add_profiles_command(CLI::App& app, ExitCode& result) {
  const auto options = std::make_shared<ProfilesOptions>();
  CLI::App* profiles = app.add_subcommand("profiles", "List, show and check profiles");
  profiles->require_subcommand(1);
  profiles->callback([&result] { result = ExitCode::ok; });

  CLI::App* list_command = profiles->add_subcommand("list", "Name and description of every profile that can be named");
  list_command->add_flag("--names", options->names, "Names alone");
  list_command->callback([options] { list(options->names); });

  CLI::App* show_command = profiles->add_subcommand("show", "Print a profile as it is written");
  show_command->add_option("NAME", options->profile, "Profile name or file")->required();
  CLI::Option* resolved = show_command->add_flag("--resolved", options->resolved,
                                                 "Every key, after extends, defaults and overrides, as TOML");
  add_set(*show_command, *options)->needs(resolved);
  show_command->callback([options] { show(*options); });

  CLI::App* check_command = profiles->add_subcommand("check", "Load a profile and run every check; needs no device");
  check_command->add_option("FILE", options->profile, "Profile name or file")->required();
  add_set(*check_command, *options);
  check_command->callback([options] { check(*options); });

  CLI::App* diff_command = profiles->add_subcommand("diff", "Resolved values that differ between two profiles");
  diff_command->add_option("A", options->profile, "Profile name or file")->required();
  diff_command->add_option("B", options->other, "The other profile")->required();
  diff_command->add_flag("--json", options->json, "One line of JSON");
  diff_command->callback([options] { diff(*options); });

  CLI::App* reference_command = profiles->add_subcommand("reference", "Every key: type, default, range, unit, meaning");
  reference_command->add_option("KEY", options->only, "Only this section or dotted key");
  reference_command->add_flag("--names", options->names, "Names of the keys alone");
  reference_command->callback([options] { reference(*options); });
}

}  // namespace foxhunt::app
