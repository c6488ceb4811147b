#pragma once
#include <optional>

#include "core/alpha/checkpoint.h"
#include "core/alpha/evaluator.h"
#include "core/run/training_state.h"

namespace foxhunt::alpha {

/// Everything that a training goes on from, on the host: a run that is given it continues bit for bit.
struct TrainingState : run::TrainingState {
  std::vector<float> losses;               ///< those that were reported, in their order
  std::vector<float> initial_parameters;   ///< that the training began with
  std::optional<std::vector<float>> best;  ///< Model::learner_block
  Scores best_scores;                      ///< of `best`, on the validation split
  std::optional<market::SeenRows> seen;    ///< by the model and the one that it began with
};

/// The model's memory by name: all of it but for the alignment between the tensors.
std::vector<run::PersistentTensor> persistent_tensors(const Model& model);

/// Writes a checkpoint that training can go on from: what save_model writes, and the rest of the state by name. Reads
/// nothing from the device. Throws Error(storage).
void save_training(const std::filesystem::path& file, const Model& model, const ModelDescription& description,
                   const TrainingState& state, std::map<std::string, std::string> metadata);
/// Throws Error(storage) when the file holds a learner alone, or tensors of other sizes than this model's.
TrainingState load_training(const run::SafetensorsFile& file, const Model& model);

}  // namespace foxhunt::alpha
