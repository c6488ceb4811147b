#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/dqn/checkpoint.h"
#include "core/dqn/model_card.h"

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

/// The checkpoint that is meant: a file itself; of a run (its folder, or its name in runs/)
/// checkpoints/NAME.safetensors, where an empty NAME is `best`, or `last` in a run that was never evaluated. Throws
/// Error(usage) when there is none, naming those there are.
std::filesystem::path find_checkpoint(const std::filesystem::path& run_or_file, const std::string& name);

/// Throws Error(storage) for a file that is damaged or holds no model, Error(usage) for a profile or override that does
/// not load.
Model load_model(const std::filesystem::path& checkpoint, const std::vector<std::string>& overrides = {});

}  // namespace foxhunt::dqn
