#include "core/run/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/run/training_state.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".safetensors", epoch_prefix = "epoch-";

std::string epoch_name(std::int64_t epoch) { return fmt::format("{}{:06}", epoch_prefix, epoch); }

struct EpochFile {
  std::int64_t epoch;
  fs::path file;
};

/// Every epoch-N, the latest first. Throws Error(storage).
std::vector<EpochFile> epoch_files(const fs::path& folder) {
  std::error_code failure;
  std::vector<EpochFile> files;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(epoch_prefix) || !name.ends_with(extension)) continue;
    std::int64_t epoch = 0;
    const char* const last = name.data() + name.size() - extension.size();
    const auto [at, error] = std::from_chars(name.data() + epoch_prefix.size(), last, epoch);
    if (error == std::errc() && at == last) files.push_back({epoch, entry->path()});
  }
  if (failure) throw storage_error("read the folder", folder, failure.value());
  std::sort(files.begin(), files.end(), [](const EpochFile& a, const EpochFile& b) { return a.epoch > b.epoch; });
  return files;
}

/// Nothing when it is damaged; the reason goes to `damage` unless there is one already.
std::optional<FoundCheckpoint> read(const fs::path& file, std::string& damage) try {
  FoundCheckpoint found{file, SafetensorsFile::load(file)};
  if (holds_training(found.contents)) return found;
  if (damage.empty())
    damage = fmt::format("{}: holds a learner alone, no state that training could go on from", file.string());
  return std::nullopt;
} catch (const Error& error) {
  if (damage.empty()) damage = error.what();
  return std::nullopt;
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, std::int64_t keep, std::vector<fs::path> metrics,
                                   std::map<std::string, std::string> metadata)
    : folder_(std::move(folder)),
      keep_(static_cast<std::size_t>(keep)),
      metrics_(std::move(metrics)),
      metadata_(std::move(metadata)) {}

void CheckpointFolder::save_last(Trained at, Write training) { save("last", at, std::move(training)); }

void CheckpointFolder::save_epoch(Trained at, Write training) { save(epoch_name(at.epoch), at, std::move(training)); }

void CheckpointFolder::save_best(Trained at, Write learner) {
  writer_.start([file = best_checkpoint(folder_), learner = std::move(learner), metadata = metadata_of(at)] {
    learner(file, metadata);
  });
}

std::map<std::string, std::string> CheckpointFolder::metadata_of(Trained at) const {
  std::map<std::string, std::string> metadata = metadata_;
  metadata["epoch"] = std::to_string(at.epoch);
  metadata["iteration"] = std::to_string(at.iteration);
  return metadata;
}

void CheckpointFolder::save(const std::string& name, Trained at, Write training) {
  const fs::path file = folder_ / fmt::format("{}{}", name, extension);
  writer_.start([this, file, training = std::move(training), metadata = metadata_of(at)] {
    for (const fs::path& metrics : metrics_) sync_file(metrics);
    training(file, metadata);
    remove_old();
  });
}

void CheckpointFolder::remove_old() const {
  const std::vector<EpochFile> files = epoch_files(folder_);
  for (std::size_t i = keep_; i < files.size(); ++i) {
    std::error_code failure;
    fs::remove(files[i].file, failure);
    if (failure) throw storage_error("remove", files[i].file, failure.value());
  }
}

FoundCheckpoint newest_checkpoint(const fs::path& folder) {
  const fs::path last = folder / fmt::format("last{}", extension);
  std::string damage;
  std::optional<FoundCheckpoint> newest;
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(last, ignored))) newest = read(last, damage);
  for (const EpochFile& candidate : epoch_files(folder)) {
    // epoch-N was written right after epoch N, `last` then or later.
    if (newest && epoch_of(newest->contents) >= candidate.epoch) break;
    if (auto found = read(candidate.file, damage)) newest = std::move(found);
  }
  if (newest && damage.empty()) return std::move(*newest);
  if (!newest && damage.empty())
    throw Error(ExitCode::storage, fmt::format("{}: no checkpoint to go on from: the run ended before its first; start "
                                               "it again with --profile",
                                               folder.string()));
  throw Error(ExitCode::storage,
              newest
                  ? fmt::format("{}; the one before it is whole: --resume {} goes on from iteration {}", damage,
                                newest->file.string(), iteration_of(newest->contents))
                  : fmt::format("{}; no other checkpoint of the run will do: start it again with --profile", damage));
}

fs::path best_checkpoint(const fs::path& folder) { return folder / fmt::format("best{}", extension); }

void set_newer_aside(const fs::path& folder, const FoundCheckpoint& chosen) {
  const auto set_aside = [&](const fs::path& file) {
    std::error_code failure;
    if (fs::equivalent(file, chosen.file, failure)) return;
    fs::rename(file, file.string() + ".superseded", failure);
    if (failure) throw storage_error("rename", file, failure.value());
  };
  const std::int64_t iteration = iteration_of(chosen.contents), epoch = epoch_of(chosen.contents);
  for (const EpochFile& candidate : epoch_files(folder))
    if (candidate.epoch > epoch) set_aside(candidate.file);
  const fs::path last = folder / fmt::format("last{}", extension);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(last, ignored))) return;
  std::string damage;
  const auto found = read(last, damage);
  if (!found || iteration_of(found->contents) > iteration) set_aside(last);
}

}  // namespace foxhunt::run
