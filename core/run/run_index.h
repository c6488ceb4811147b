#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/profile/difference.h"

namespace foxhunt::run {

/// What a run's folder holds. A run that was killed, or is still going, has no summary yet.
struct RunRecord {
  std::filesystem::path folder;
  std::string command;                 ///< "" when there is none
  nlohmann::ordered_json environment;  ///< null when absent or damaged
  nlohmann::ordered_json summary;      ///< null when absent or damaged
  std::vector<std::string> problems;   ///< files that are there and cannot be read

  std::string name() const { return folder.filename().string(); }
  std::filesystem::path profile_file() const { return folder / "profile.toml"; }
  /// Why it ended, from its summary; "unfinished" when it has none, "damaged" when that cannot be read.
  std::string state() const;
};

/// Every folder of `root` that holds a profile.toml, by start; what else lies there is passed over. Throws
/// Error(usage) when `root` is no folder.
std::vector<RunRecord> list_runs(const std::filesystem::path& root);

/// The run of a folder, or of that name in `root`. Throws Error(usage) with the nearest name when there is none.
RunRecord find_run(const std::string& name_or_path, const std::filesystem::path& root);

/// A line a run: name, start, state, iterations, net PnL of the validation and test splits, Sharpe ratio of the test.
std::string runs_table(const std::vector<RunRecord>& runs);
/// The same figures as an object.
nlohmann::ordered_json run_line(const RunRecord& run);

/// Lines for a person: command, start, device, data, seed, how it ended, and every figure of its summary.
std::string run_text(const RunRecord& run);

/// Figures of two summaries that differ, "test.net_pnl" and so on; without phases and checks.
std::vector<profile::SideBySide> result_differences(const RunRecord& first, const RunRecord& second);

}  // namespace foxhunt::run
