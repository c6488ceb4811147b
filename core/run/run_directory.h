#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/storage.h"

namespace foxhunt::run {

/// The folder that one run leaves behind. Every file in it is whole or absent, but for the log and the metrics, which
/// grow.
class RunDirectory {
 public:
  /// Makes OUTPUT_ROOT/PROFILE-YYYYmmdd-HHMMSS (UTC) and its checkpoints/, and the folders above as needed. The folder
  /// is new and this run's alone: where the name is taken, -2, -3 ... is appended. What is no letter, digit, '.', '_'
  /// or '-' in the profile's name becomes '_'. Throws Error(storage).
  static RunDirectory create(const std::filesystem::path& output_root, std::string_view profile_name);

  /// The folder of a run that has begun. Throws Error(usage) when `path` holds no profile.toml.
  static RunDirectory open(const std::filesystem::path& path);

  /// Makes this process the only one that writes here, for as long as this object lives. Throws Error(storage) when
  /// another one does. Where the file system has no locks, nothing is held.
  void lock();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path profile_file() const { return path_ / "profile.toml"; }
  std::filesystem::path command_file() const { return path_ / "command.txt"; }
  std::filesystem::path environment_file() const { return path_ / "environment.json"; }
  std::filesystem::path log_file() const { return path_ / "log.txt"; }
  std::filesystem::path metrics_file() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path metrics_table_file() const { return path_ / "metrics.csv"; }
  std::filesystem::path validation_file() const { return path_ / "validation.jsonl"; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path summary_file() const { return path_ / "summary.json"; }
  std::filesystem::path evaluation_file() const { return path_ / "evaluation.json"; }
  std::filesystem::path gate_file() const { return path_ / "gate.json"; }
  std::filesystem::path report_file() const { return path_ / "report.html"; }

  // Each throws Error(storage).

  void write_profile(std::string_view resolved_toml) const;
  /// For a run that is taken up again, the N-th time that it starts: the command becomes another line of the command
  /// file, the environment goes to environment-N.json, and `changed_profile`, unless "", to profile-N.toml.
  void record_resume(std::span<const std::string> arguments, const nlohmann::ordered_json& more,
                     std::string_view changed_profile) const;
  /// The profile-N.toml of the highest N, else profile.toml.
  std::filesystem::path latest_profile_file() const;
  /// One line that a shell reads as the same command.
  void write_command(std::span<const std::string> arguments) const;
  /// describe_environment() and then `more`: the device, for one.
  void write_environment(const nlohmann::ordered_json& more) const;
  void write_summary(const nlohmann::ordered_json& summary) const;
  void write_evaluation(const nlohmann::ordered_json& evaluation) const;

 private:
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  Descriptor locked_;
};

}  // namespace foxhunt::run
