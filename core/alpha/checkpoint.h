#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/alpha/dataset.h"
#include "core/alpha/model.h"
#include "core/market/book_model.h"
#include "core/run/safetensors.h"

namespace foxhunt::alpha {

/// All that a trained model's numbers mean something with.
struct ModelDescription {
  TrunkShape trunk;
  Horizons horizons{};
  std::int64_t tick = 0;  ///< 1e-9 points, of the contract that it was trained on
  /// Nothing where that is not known: in a file of an older program, and after a start from one.
  std::optional<market::SeenRows> seen;
};

/// What a training on this data sees: it learns from the training split and chooses by the validation split.
market::SeenRows rows_seen_of(const Dataset& data);
/// What the model of a checkpoint has seen; nothing where the file does not say.
std::optional<market::SeenRows> rows_seen_in(const run::SafetensorsFile& file);
/// What a training that started from another model has seen.
std::optional<market::SeenRows> rows_seen_by_both(const std::optional<market::SeenRows>& own,
                                                  const std::optional<market::SeenRows>& before);

struct SavedModel {
  ModelDescription description;
  std::vector<float> parameters;                ///< as TrunkLayout lays them out
  std::map<std::string, std::string> metadata;  ///< profile, epoch, iteration ... as they were saved
};

/// Writes a model atomically as safetensors: its learner (state.parameters, state.moment1, state.moment2) and beside it
/// each matrix by name (input.weight [40, hidden], input.bias [hidden], recurrent.weight, recurrent.theta, projector,
/// heads), the description, the names of the features and `more` as metadata. learner: a host copy of
/// Model::learner_block. Throws Error(storage).
void save_model(const std::filesystem::path& file, const Model& model, const std::vector<float>& learner,
                const ModelDescription& description, std::map<std::string, std::string> more);

/// Writes `views`, of which one is "state.parameters", and beside them each matrix by name and the description: what
/// every kind of checkpoint has in common. Throws Error(storage).
void save_with_matrices(const std::filesystem::path& file, const TrunkLayout& layout,
                        std::vector<run::TensorView> views, const ModelDescription& description,
                        std::map<std::string, std::string> metadata);

/// Throws Error(storage) for a file that cannot be read or is damaged, and Error(usage) for one that is no alpha model,
/// or one of other features or of another shape than it says.
SavedModel load_model(const std::filesystem::path& file);

/// Throws Error(usage), which names the file, what differs and the profile's keys, when the model was not trained with
/// this trunk and these horizons.
void require_shape(const std::filesystem::path& file, const ModelDescription& saved, const TrunkShape& trunk,
                   const Horizons& horizons);

}  // namespace foxhunt::alpha
