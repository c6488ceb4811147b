#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>
#include <string>

#include "app/commands.h"
#include "core/profile/loader.h"
#include "core/run/json.h"
#include "core/run/run_index.h"

namespace foxhunt::app {
namespace {

using Json = nlohmann::ordered_json;
using profile::SideBySide;

/// What the command line said; filled before a callback runs.
struct RunsOptions {
  std::string output = "runs", first, second;
  bool json = false;
};

void list(const RunsOptions& options) {
  const std::vector<run::RunRecord> runs = run::list_runs(options.output);
  if (!options.json) {
    std::cout << run::runs_table(runs);
    return;
  }
  auto lines = Json::array();
  for (const run::RunRecord& each : runs) lines.push_back(run::run_line(each));
  fmt::print(std::cout, "{}\n", run::json_text(lines));
}

void show(const RunsOptions& options) {
  const run::RunRecord found = run::find_run(options.first, options.output);
  if (!options.json) {
    std::cout << run::run_text(found);
    return;
  }
  Json json = {{"run", found.folder.string()}, {"command", found.command}, {"state", found.state()}};
  json["environment"] = found.environment;
  json["summary"] = found.summary;
  fmt::print(std::cout, "{}\n", run::json_text(json));
}

profile::Profile profile_of(const run::RunRecord& run) {
  return profile::load_profile(run.profile_file().string(), {}, profile::ProfilePaths::standard());
}

void compare(const RunsOptions& options) {
  const run::RunRecord first = run::find_run(options.first, options.output),
                       second = run::find_run(options.second, options.output);
  const std::vector<SideBySide> keys = profile::differences(profile_of(first), profile_of(second)),
                                results = run::result_differences(first, second);
  if (options.json) {
    fmt::print(std::cout, "{}\n",
               run::json_text({{"profile", side_by_side_json(keys)}, {"result", side_by_side_json(results)}}));
    return;
  }
  std::cout << profile::side_by_side({"profile", first.name(), second.name()}, keys) << "\n"
            << profile::side_by_side({"result", first.name(), second.name()}, results);
}

}  // namespace

Json side_by_side_json(const std::vector<SideBySide>& rows) {
  auto json = Json::object();
  for (const SideBySide& row : rows) json[row.name] = {row.first, row.second};
  return json;
}

void add_runs_command(CLI::App& app, ExitCode& result) {
  const auto options = std::make_shared<RunsOptions>();
  CLI::App* runs = app.add_subcommand("runs", "List, show and compare runs");
  runs->require_subcommand(1);
  runs->callback([&result] { result = ExitCode::ok; });
  const auto add = [&](const char* name, const char* help) {
    CLI::App* command = runs->add_subcommand(name, help);
    command->add_option("--output", options->output, "Folder of run folders")->capture_default_str();
    command->add_flag("--json", options->json, "One line of JSON");
    return command;
  };
  add("list", "Every run and its result, a line each")->callback([options] { list(*options); });

  CLI::App* show_command = add("show", "What a run was and came to");
  show_command->add_option("RUN", options->first, "Run folder, or its name in the output folder")->required();
  show_command->callback([options] { show(*options); });

  CLI::App* compare_command = add("compare", "What differs between two runs in profile and result");
  compare_command->add_option("A", options->first, "Run folder, or its name in the output folder")->required();
  compare_command->add_option("B", options->second, "The other run")->required();
  compare_command->callback([options] { compare(*options); });
}

}  // namespace foxhunt::app
