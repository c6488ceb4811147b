#include "core/dqn/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/profile/resolved_profile.h"
#include "core/run/run_index.h"

namespace foxhunt::dqn {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".safetensors";

/// A number of the metadata; 0 when there is none.
std::int64_t number_in(const std::map<std::string, std::string>& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  std::int64_t value = 0;
  if (found != metadata.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::vector<std::string> checkpoint_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;  // a folder that is absent or closed to us holds none
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().extension() == extension) names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
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

fs::path find_checkpoint(const fs::path& run_or_file, const std::string& name) {
  std::error_code ignored;
  if (!fs::exists(run_or_file, ignored))
    return find_checkpoint(run::find_run(run_or_file.string(), "runs").folder, name);
  if (!fs::is_directory(run_or_file, ignored)) {
    if (name.empty()) return run_or_file;
    throw Error(ExitCode::usage, fmt::format("{} is a checkpoint already; --checkpoint {} needs a run's folder",
                                             run_or_file.string(), name));
  }
  const fs::path folder = run_or_file / "checkpoints";
  const std::vector<std::string> names = checkpoint_names(folder);
  const std::vector<std::string> wanted = name.empty() ? std::vector<std::string>{"best", "last"} : std::vector{name};
  for (const std::string& candidate : wanted)
    if (std::find(names.begin(), names.end(), candidate) != names.end()) return folder / (candidate + extension);
  throw Error(ExitCode::usage, fmt::format("{}: no checkpoint {}; {}", run_or_file.string(), fmt::join(wanted, " or "),
                                           names.empty() ? "expected checkpoints/*.safetensors there"
                                                         : fmt::format("there are {}", fmt::join(names, ", "))));
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
