#include "core/run/resume.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/profile/document.h"
#include "core/profile/printer.h"
#include "core/profile/resolved_profile.h"
#include "core/run/log.h"
#include "core/run/metrics_record.h"
#include "core/run/run_index.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

namespace fs = std::filesystem;

/// Throws Error(storage) when there is no such entry: a file written by another program.
const std::string& metadata_of(const FoundCheckpoint& checkpoint, const std::string& key) {
  const auto& metadata = checkpoint.contents.metadata();
  const auto found = metadata.find(key);
  if (found == metadata.end())
    throw Error(ExitCode::storage, fmt::format("{}: no '{}' in its metadata; use a checkpoint that this program wrote",
                                               checkpoint.file.string(), key));
  return found->second;
}

fs::path run_folder(const std::string& run) {
  std::error_code ignored;
  if (!fs::is_regular_file(run, ignored)) return find_run(run, "runs").folder;
  const fs::path folder = fs::absolute(run).parent_path();
  if (folder.filename() != "checkpoints")
    throw Error(ExitCode::usage,
                fmt::format("{}: lies in no run; expected a run's folder, or a file of its checkpoints/", run));
  return folder.parent_path();
}

FoundCheckpoint checkpoint_of(const std::string& run, const RunDirectory& directory) {
  std::error_code ignored;
  if (!fs::is_regular_file(run, ignored)) return newest_checkpoint(directory.checkpoints());
  FoundCheckpoint found{run, SafetensorsFile::load(run)};
  if (!holds_training(found.contents))
    throw Error(
        ExitCode::storage,
        fmt::format("{}: holds a learner alone; training goes on from last or epoch-N as this version writes them",
                    run));
  return found;
}

/// No error when it is not there.
void remove_file(const fs::path& file) {
  std::error_code failure;
  fs::remove(file, failure);
  if (failure) throw storage_error("remove", file, failure.value());
}

/// Throws Error(usage) when keys differ that no override speaks for. run.output does not matter: the run has its
/// folder.
void require_agreement(const profile::Profile& trained, const profile::Profile& wanted, const std::string& wanted_name,
                       const std::vector<std::string>& spoken_for) {
  std::string different, remedy;
  for (const profile::SideBySide& row : profile::differences(trained, wanted)) {
    if (row.name == "run.output" || std::find(spoken_for.begin(), spoken_for.end(), row.name) != spoken_for.end())
      continue;
    different += fmt::format("{}{} is {} there and {} in the checkpoint", different.empty() ? "" : ", ", row.name,
                             row.second.empty() ? "not set" : row.second, row.first.empty() ? "not set" : row.first);
    if (remedy.empty()) remedy = fmt::format("--set '{}={}'", row.name, row.second.empty() ? row.first : row.second);
  }
  if (!different.empty())
    throw Error(ExitCode::usage,
                fmt::format("{} is not what the run was trained with: {}; undo that, or say what to go "
                            "on with, each by a --set ({})",
                            wanted_name, different, remedy));
}

/// Throws Error(usage) when the profile that was asked for, or the folder's latest, says otherwise.
void require_wanted(const ResumeRequest& request, const RunDirectory& directory, const profile::Profile& trained,
                    const std::vector<std::string>& spoken_for) {
  if (!request.profile) {
    const fs::path file = directory.latest_profile_file();
    const profile::Profile latest = profile::read_resolved_profile(profile::read_text(file), file.string());
    return require_agreement(trained, latest, file.string(), spoken_for);
  }
  profile::Profile wanted = *request.profile;
  if (!wanted.run.seed) wanted.run.seed = trained.run.seed;  // the one that was drawn
  require_agreement(trained, wanted, wanted.name, spoken_for);
}

/// Whether a key says what the market is made of.
bool of_market(const std::string& key) {
  const auto section = profile::section_of(key);
  return section == "data" || section == "contract" || section == "features";
}

/// Throws Error(usage) for an override that no run can go on with.
void require_changeable(const std::vector<std::string>& overridden) {
  for (const std::string& key : overridden) {
    if (key == "gpu_profile")
      throw Error(ExitCode::usage, "--set gpu_profile: the sizes of a run that goes on cannot change; start a new run");
    if (key == "model")
      throw Error(ExitCode::usage, "--set model: a run goes on with the model that it began with; start a new run");
  }
}

}  // namespace

ResumePoint find_resume_point(const ResumeRequest& request) {
  RunDirectory directory = RunDirectory::open(run_folder(request.run));
  directory.lock();
  FoundCheckpoint checkpoint = checkpoint_of(request.run, directory);
  const std::string origin = checkpoint.file.string();
  std::vector<std::string> overridden;
  for (const std::string& argument : request.overrides)
    overridden.push_back(profile::read_override(argument).key->name);
  require_changeable(overridden);
  const std::string& toml = metadata_of(checkpoint, "profile_toml");
  const profile::Profile trained = profile::read_resolved_profile(toml, origin);
  profile::Profile profile = profile::read_resolved_profile(toml, origin, request.overrides);
  require_wanted(request, directory, trained, overridden);
  auto changes = profile::differences(trained, profile);
  return {std::move(directory), std::move(checkpoint), std::move(profile), std::move(changes), std::move(overridden)};
}

bool ResumePoint::overrides(const std::string& key) const {
  return std::find(overridden.begin(), overridden.end(), key) != overridden.end();
}

std::map<std::string, std::string> fingerprint_metadata(const MarketFingerprint& market) {
  return {{"market_rows", fmt::format("{:016x}", market.rows)},
          {"market_values", fmt::format("{:016x}", market.values)}};
}

void require_same_market(const ResumePoint& point, const MarketFingerprint& market, const std::string& source) {
  const std::map<std::string, std::string> now = fingerprint_metadata(market);
  const auto differs = [&](const char* key) { return metadata_of(point.checkpoint, key) != now.at(key); };
  const bool rows = differs("market_rows"), values = differs("market_values");
  const bool may_differ = std::any_of(point.overridden.begin(), point.overridden.end(), of_market);
  if (!rows && (!values || may_differ)) return;
  throw Error(
      ExitCode::data,
      fmt::format("{}: its {} are not those that the run was trained on; put the data back{}, or start a new run",
                  source, rows ? "rows" : "values",
                  rows ? "" : " (or say --set data.path=... to go on with it as it is)"));
}

void reopen_run(const ResumePoint& point, const TrainingState& state, const std::vector<std::string>& command_line,
                const nlohmann::ordered_json& environment) {
  const RunDirectory& directory = point.directory;
  directory.record_resume(command_line, environment, point.changes.empty() ? "" : profile::to_toml(point.profile));
  set_newer_aside(directory.checkpoints(), point.checkpoint);
  for (const fs::path& file :
       {directory.summary_file(), directory.evaluation_file(), directory.gate_file(), directory.report_file()})
    remove_file(file);
  if (state.best_epoch < 0) remove_file(best_checkpoint(directory.checkpoints()));
  rewind_metrics(directory, state.iteration, state.early_stopping.evaluations);
}

void go_on(ResumePoint& point, const TrainingState& state, const std::vector<std::string>& command_line,
           const nlohmann::ordered_json& environment) {
  reopen_run(point, state, command_line, environment);
  start_log_file(point.directory.log_file());
  spdlog::info("resumed: {}: {} iterations, {} epochs done", point.checkpoint.file.string(), state.iteration,
               state.epoch);
  for (const profile::SideBySide& change : point.changes)
    spdlog::info("changed: {}: {} -> {}", change.name, change.first, change.second);
  [[maybe_unused]] const FoundCheckpoint freed = std::move(point.checkpoint);
}

}  // namespace foxhunt::run
