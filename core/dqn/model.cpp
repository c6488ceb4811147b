#include "core/dqn/model.h"

#include <fmt/format.h>

#include <charconv>

#include "core/profile/resolved_profile.h"

namespace foxhunt::dqn {
namespace {

namespace fs = std::filesystem;

/// A number of the metadata; 0 when there is none.
std::int64_t number_in(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  std::int64_t value = 0;
  if (found != metadata.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

void require_weights(const Model& model) {
  const auto wanted = static_cast<std::size_t>(model.card.network().parameters());
  for (const char* name : {"parameters", model.card.spectral_norm ? "effective" : "target"}) {
    const auto found = model.learner.tensors.find(name);
    if (found == model.learner.tensors.end() || found->second.size() != wanted)
      throw Error(
          ExitCode::storage,
          fmt::format("{}: tensor state.{} is missing or does not hold the {} floats of the network that the model "
                      "card describes; use another copy",
                      model.file.string(), name, wanted));
  }
}

}  // namespace

const std::vector<float>& Model::weights() const {
  return learner.tensors.at(card.spectral_norm ? "effective" : "parameters");
}

Model load_model(const fs::path& checkpoint, const std::vector<std::string>& overrides) {
  const run::SafetensorsFile file = run::SafetensorsFile::load(checkpoint);
  const std::map<std::string, std::string>& metadata = file.metadata();
  Model model;
  model.file = checkpoint;
  model.card = parse_model_card(metadata, checkpoint.string());
  const auto text = metadata.find("profile_toml");
  if (text == metadata.end())
    throw Error(ExitCode::storage,
                fmt::format("{}: it holds no profile; expected a checkpoint of foxhunt-train", checkpoint.string()));
  model.profile = profile::read_resolved_profile(text->second, checkpoint.string(), overrides);
  model.epoch = number_in(metadata, "epoch");
  model.iteration = number_in(metadata, "iteration");
  model.learner = learner_in(file);
  require_weights(model);
  return model;
}

}  // namespace foxhunt::dqn
