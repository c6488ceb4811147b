#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/run/background_task.h"
#include "core/run/safetensors.h"

namespace foxhunt::run {

/// The checkpoints that a run writes: `last` and `epoch-N` hold the whole training, `best` the best learner. Files are
/// written by a thread of their own from the copy that is handed over, one at a time; what goes wrong there is thrown
/// by the next call. A file is replaced or removed only once the new one is whole and on the disk.
class CheckpointFolder {
 public:
  /// `keep` latest epoch-N stay. `metrics` are files that are synced before a training is written, so that none is ever
  /// behind. `metadata` goes into every file.
  CheckpointFolder(std::filesystem::path folder, std::int64_t keep, std::vector<std::filesystem::path> metrics,
                   std::map<std::string, std::string> metadata);

  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  /// Writes one file, from what it owns or what outlives wait(). Throws Error(storage).
  using Write = std::function<void(const std::filesystem::path& file, std::map<std::string, std::string> metadata)>;
  /// How far the training was that a file is of.
  struct Trained {
    std::int64_t epoch, iteration;
  };

  // Each throws Error(storage) of the write before it.

  void save_last(Trained at, Write training);
  void save_epoch(Trained at, Write training);
  void save_best(Trained at, Write learner);
  /// Returns when all is on the disk.
  void wait() { writer_.wait(); }

 private:
  std::map<std::string, std::string> metadata_of(Trained at) const;
  void save(const std::string& name, Trained at, Write training);
  void remove_old() const;

  std::filesystem::path folder_;
  std::size_t keep_;
  std::vector<std::filesystem::path> metrics_;
  std::map<std::string, std::string> metadata_;
  BackgroundTask writer_;
};

/// A checkpoint that holds a whole training, read and checked.
struct FoundCheckpoint {
  std::filesystem::path file;
  SafetensorsFile contents;
};

/// The one of the highest iteration. Throws Error(storage) when there is none, or when one that may be newer is
/// damaged: the message has the reason and the newest one that is whole.
FoundCheckpoint newest_checkpoint(const std::filesystem::path& folder);

std::filesystem::path best_checkpoint(const std::filesystem::path& folder);

/// Renames what is newer than `chosen` to NAME.superseded, so that it is not taken for this run's next time.
void set_newer_aside(const std::filesystem::path& folder, const FoundCheckpoint& chosen);

}  // namespace foxhunt::run
