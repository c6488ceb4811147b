#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "core/dqn/agent.h"
#include "core/run/safetensors.h"

namespace foxhunt::dqn {

/// A host copy of an agent's learner: what an evaluation, the best model and a checkpoint are made of.
struct LearnerState {
  std::map<std::string, std::vector<float>> tensors;
  bool operator==(const LearnerState&) const = default;
};

LearnerState download_learner(Device& device, const Agent& agent);
/// Throws Error(storage) when a tensor is missing or of another size.
void upload_learner(Device& device, Agent& agent, const LearnerState& state);

/// Writes the learner atomically as safetensors: one tensor a part of the state, and beside them the layers of the
/// parameters by name (online.0.weight [inputs, outputs], online.0.bias ...). Throws Error(storage).
void save_checkpoint(const std::filesystem::path& file, const Agent& agent, const LearnerState& state,
                     std::map<std::string, std::string> metadata);
/// The learner in a checkpoint.
LearnerState learner_in(const run::SafetensorsFile& checkpoint);
/// Throws Error(storage) for a damaged file.
LearnerState load_checkpoint(const std::filesystem::path& file);

/// Writes `views`, of which one is the learner's "state.parameters", and beside them the layers of the parameters by
/// name: what every kind of checkpoint has in common. Throws Error(storage).
void save_with_layers(const std::filesystem::path& file, const Agent& agent, std::vector<run::TensorView> views,
                      std::map<std::string, std::string> metadata);

/// run::fingerprint of the parameters.
std::uint64_t fingerprint(const LearnerState& state);

}  // namespace foxhunt::dqn
