#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dqn/checkpoint.h"
#include "core/run/checkpoint_folder.h"
#include "core/run/training_state.h"

namespace foxhunt::dqn {

/// Everything that a training goes on from, on the host: a run that is given it continues bit for bit.
struct TrainingState : run::TrainingState {
  std::int64_t losses_seen = 0, nonfinite_losses = 0;
  std::optional<LearnerState> best;
};

/// The agent's memory by name: all of it but for the alignment between the tensors.
std::vector<run::PersistentTensor> persistent_tensors(const Agent& agent);

/// Writes a checkpoint that training can go on from: what save_checkpoint writes, and the rest of the state by name.
/// Reads nothing from the device. Throws Error(storage).
void save_training(const std::filesystem::path& file, const Agent& agent, const TrainingState& state,
                   std::map<std::string, std::string> metadata);
/// Throws Error(storage) when the file holds a learner alone, or tensors of other sizes than this agent's.
TrainingState load_training(const run::SafetensorsFile& file, const Agent& agent);

/// save_training and save_checkpoint as a CheckpointFolder takes them; the agent must outlive the write.
run::CheckpointFolder::Write training_writer(const Agent& agent, TrainingState state);
run::CheckpointFolder::Write learner_writer(const Agent& agent, LearnerState learner);

}  // namespace foxhunt::dqn
