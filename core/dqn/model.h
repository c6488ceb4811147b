#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/dqn/checkpoint.h"
#include "core/dqn/model_card.h"
#include "core/run/find_checkpoint.h"

namespace foxhunt::dqn {

/// A trained network and all it needs to be used alone.
struct Model {
  std::filesystem::path file;
  ModelCard card;
  profile::Profile profile;  ///< that it was trained with, and overrides
  std::int64_t epoch = 0, iteration = 0;
  LearnerState learner;

  /// The weights that forward passes use, spectrally normalised where the network is; laid out as card.network().
  const std::vector<float>& weights() const;
};

using run::find_checkpoint;

/// Throws Error(storage) for a file that is damaged or holds no model, Error(usage) for a profile or override that does
/// not load.
Model load_model(const std::filesystem::path& checkpoint, const std::vector<std::string>& overrides = {});

}  // namespace foxhunt::dqn
