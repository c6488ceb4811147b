#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dqn/checkpoint.h"
#include "core/run/early_stopping.h"
#include "core/run/guard.h"
#include "core/run/safetensors.h"

namespace foxhunt::dqn {

/// Everything that a training goes on from, on the host: a run that is given it continues bit for bit.
struct TrainingState {
  std::int64_t iteration = 0, epoch = 0;  ///< finished
  std::int64_t losses_seen = 0, nonfinite_losses = 0;
  std::int64_t best_epoch = -1;  ///< -1: never evaluated
  double best_metric = 0;
  double training_seconds = 0;
  run::EarlyStopping::State early_stopping;
  std::optional<LearnerState> best;
  run::Guard::State guard;
  std::vector<std::byte> persistent;  ///< Agent::persistent
};

/// One tensor inside Agent::persistent.
struct PersistentTensor {
  std::string name;
  run::DType dtype;
  std::vector<std::int64_t> shape;
  std::size_t offset, bytes;
};
/// They cover all of it but for the alignment between them.
std::vector<PersistentTensor> persistent_tensors(const Agent& agent);

/// Writes a checkpoint that training can go on from: what save_checkpoint writes, and the rest of the state by name.
/// Reads nothing from the device. Throws Error(storage).
void save_training(const std::filesystem::path& file, const Agent& agent, const TrainingState& state,
                   std::map<std::string, std::string> metadata);
/// Throws Error(storage) when the file holds a learner alone, or tensors of other sizes than this agent's.
TrainingState load_training(const run::SafetensorsFile& file, const Agent& agent);

/// Whether the file is one of save_training.
bool holds_training(const run::SafetensorsFile& file);
/// Iteration and epoch of a checkpoint that holds a training. Throws Error(storage) for another file.
std::int64_t iteration_of(const run::SafetensorsFile& file);
std::int64_t epoch_of(const run::SafetensorsFile& file);

}  // namespace foxhunt::dqn
