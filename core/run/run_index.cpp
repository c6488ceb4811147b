#include "core/run/run_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "core/error.h"
#include "core/run/json.h"

namespace foxhunt::run {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::optional<std::string> text_of(const fs::path& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || !fs::is_regular_file(file, ignored)) return std::nullopt;  // a folder opens, too
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Null when it is absent; null and a problem when it holds no JSON object.
Json object_of(RunRecord& run, const char* file_name) {
  const std::optional<std::string> text = text_of(run.folder / file_name);
  if (!text) return {};
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_object()) return json;
  run.problems.push_back(fmt::format("{}: damaged, no JSON object", (run.folder / file_name).string()));
  return {};
}

bool is_run(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "profile.toml", ignored);
}

RunRecord read_run(const fs::path& folder) {
  RunRecord run{.folder = folder, .command = {}, .environment = {}, .summary = {}, .problems = {}};
  run.command = text_of(folder / "command.txt").value_or("");
  run.command.erase(std::find(run.command.begin(), run.command.end(), '\n'), run.command.end());
  run.environment = object_of(run, "environment.json");
  run.summary = object_of(run, "summary.json");
  return run;
}

/// A member, or null where anything on the way is missing.
Json member(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return {};
    at = &at->at(key);
  }
  return *at;
}

/// "-" for null; text without its quotes, on one line.
std::string shown(const Json& value) {
  if (value.is_null()) return "-";
  std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return text;
}

std::string dollars(const Json& value) {
  return value.is_number() ? fmt::format("{:.2f}", value.get<double>()) : shown(value);
}

/// The figures of a summary by dotted name.
std::vector<std::pair<std::string, Json>> figures(const Json& summary) {
  std::vector<std::pair<std::string, Json>> found;
  if (!summary.is_object()) return found;
  for (const auto& [name, value] : summary.items()) {
    if (name == "phases" || name == "checks") continue;
    if (!value.is_object()) {
      found.emplace_back(name, value);
      continue;
    }
    for (const auto& [leaf, inner] : value.items()) found.emplace_back(name + "." + leaf, inner);
  }
  return found;
}

Json started(const RunRecord& run) { return member(run.environment, {"started"}); }

}  // namespace

std::string RunRecord::state() const {
  if (summary.is_object()) return shown(member(summary, {"reason"}));
  std::error_code ignored;
  return fs::exists(folder / "summary.json", ignored) ? "damaged" : "unfinished";
}

std::vector<RunRecord> list_runs(const fs::path& root) {
  std::error_code error;
  std::vector<RunRecord> runs;
  for (auto entry = fs::directory_iterator(root, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    if (is_run(entry->path())) runs.push_back(read_run(entry->path()));
  if (error)
    throw Error(ExitCode::usage, fmt::format("{}: cannot list runs: {}; name their folder with --output", root.string(),
                                             error.message()));
  const auto order = [](const RunRecord& run) { return std::pair(shown(started(run)), run.name()); };
  std::sort(runs.begin(), runs.end(), [&](const RunRecord& a, const RunRecord& b) { return order(a) < order(b); });
  return runs;
}

RunRecord find_run(const std::string& name_or_path, const fs::path& root) {
  for (const fs::path& folder : {fs::path(name_or_path), root / name_or_path}) {
    const fs::path plain = folder.filename().empty() ? folder.parent_path() : folder;  // "runs/x/"
    if (!name_or_path.empty() && is_run(plain)) return read_run(plain);
  }
  std::error_code ignored;
  if (fs::is_directory(name_or_path, ignored))
    throw Error(ExitCode::usage, fmt::format("{}: no run; a run's folder holds profile.toml", name_or_path));
  std::vector<std::string> names;
  if (fs::is_directory(root, ignored))
    for (const RunRecord& run : list_runs(root)) names.push_back(run.name());
  const std::string near = nearest_name(name_or_path, names);
  throw Error(ExitCode::usage,
              fmt::format("no run \"{}\" here or in {}{}", name_or_path, root.string(),
                          near.empty() ? "; see foxhunt-train runs list" : fmt::format("; did you mean {}?", near)));
}

Json run_line(const RunRecord& run) {
  return {{"run", run.folder.string()},
          {"started", started(run)},
          {"state", run.state()},
          {"iterations", member(run.summary, {"iterations"})},
          {"validation_net_pnl", member(run.summary, {"validation", "net_pnl"})},
          {"test_net_pnl", member(run.summary, {"test", "net_pnl"})},
          {"test_sharpe", member(run.summary, {"test", "sharpe"})}};
}

std::string runs_table(const std::vector<RunRecord>& runs) {
  std::size_t name = 3, state = 5;
  for (const RunRecord& run : runs) {
    name = std::max(name, run.name().size());
    state = std::max(state, run.state().size());
  }
  constexpr const char* row = "{:<{}}  {:<20}  {:<{}}  {:>10}  {:>14}  {:>12}  {:>8}\n";
  std::string text =
      fmt::format(row, "run", name, "started", "state", state, "iterations", "validation $", "test $", "Sharpe");
  for (const RunRecord& run : runs) {
    const Json line = run_line(run);
    text +=
        fmt::format(row, run.name(), name, shown(line["started"]), run.state(), state, shown(line["iterations"]),
                    dollars(line["validation_net_pnl"]), dollars(line["test_net_pnl"]), dollars(line["test_sharpe"]));
  }
  return text;
}

std::string run_text(const RunRecord& run) {
  std::string text = fmt::format("run         {}\ncommand     {}\nstate       {}\n", run.folder.string(),
                                 run.command.empty() ? "-" : run.command, run.state());
  for (const char* key : {"started", "device", "version", "hostname"})
    text += fmt::format("{:<11} {}\n", key, shown(member(run.environment, {key})));
  for (const std::string& problem : run.problems) text += fmt::format("problem     {}\n", problem);
  for (const auto& [name, value] : figures(run.summary)) text += fmt::format("  {:<28} {}\n", name, shown(value));
  return text;
}

std::vector<profile::SideBySide> result_differences(const RunRecord& first, const RunRecord& second) {
  std::vector<profile::SideBySide> rows;
  auto left = figures(second.summary);
  for (const auto& [name, value] : figures(first.summary)) {
    const auto same =
        std::find_if(left.begin(), left.end(), [&wanted = name](const auto& other) { return other.first == wanted; });
    const Json other = same == left.end() ? Json() : same->second;
    if (same != left.end()) left.erase(same);
    if (value != other) rows.push_back({name, shown(value), shown(other)});
  }
  for (const auto& [name, value] : left) rows.push_back({name, "-", shown(value)});
  return rows;
}

}  // namespace foxhunt::run
