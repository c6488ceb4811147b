#include "core/dqn/checkpoint.h"

#include <algorithm>

namespace foxhunt::dqn {
namespace {
const std::string state_prefix = "state.";
}

LearnerState download_learner(Device& device, const Agent& agent) {
  LearnerState state;
  for (const nn::Learner::Tensor& tensor : agent.learner().state())
    state.tensors[tensor.name] = device.download(tensor.span);
  return state;
}

void upload_learner(Device& device, Agent& agent, const LearnerState& state) {
  for (const nn::Learner::Tensor& tensor : agent.learner().state()) {
    const auto found = state.tensors.find(tensor.name);
    if (found == state.tensors.end() || found->second.size() != tensor.span.size)
      throw Error(ExitCode::storage, "checkpoint: tensor '" + tensor.name +
                                         "' is missing or of another size than this "
                                         "network's; load it with the profile it was trained with");
    device.upload(tensor.span, found->second);
  }
}

void save_checkpoint(const std::filesystem::path& file, const Agent& agent, const LearnerState& state,
                     std::map<std::string, std::string> metadata) {
  std::vector<run::TensorView> views;
  for (const auto& [name, values] : state.tensors)
    views.push_back(run::tensor_view(state_prefix + name, {static_cast<std::int64_t>(values.size())},
                                     std::span<const float>(values)));
  save_with_layers(file, agent, std::move(views), std::move(metadata));
}

void save_with_layers(const std::filesystem::path& file, const Agent& agent, std::vector<run::TensorView> views,
                      std::map<std::string, std::string> metadata) {
  metadata["format"] = "foxhunt-dqn-1";
  const auto parameters = std::find_if(
      views.begin(), views.end(), [](const run::TensorView& view) { return view.name == state_prefix + "parameters"; });
  const std::span<const std::byte> bytes = parameters->data;
  const auto part = [&](std::int64_t first, std::int64_t count) {
    return bytes.subspan(static_cast<std::size_t>(first) * sizeof(float),
                         static_cast<std::size_t>(count) * sizeof(float));
  };
  const LayerTable& table = agent.learner().network().table();
  for (int l = 0; l < table.layers; ++l) {
    const std::int64_t inputs = table.inputs[l], outputs = table.outputs[l], weights = inputs * outputs;
    const std::string name = "online." + std::to_string(l);
    views.push_back({name + ".weight", run::DType::f32, {inputs, outputs}, part(table.offset[l], weights)});
    views.push_back({name + ".bias", run::DType::f32, {outputs}, part(table.offset[l] + weights, outputs)});
  }
  run::save_safetensors(file, views, metadata);
}

LearnerState learner_in(const run::SafetensorsFile& loaded) {
  LearnerState state;
  for (const std::string& name : loaded.names()) {
    if (!name.starts_with(state_prefix)) continue;
    const run::TensorView& view = loaded.tensor(name);
    std::vector<float> values(view.data.size() / sizeof(float));
    loaded.copy(name, std::span<float>(values));
    state.tensors[name.substr(state_prefix.size())] = std::move(values);
  }
  return state;
}

LearnerState load_checkpoint(const std::filesystem::path& file) { return learner_in(run::SafetensorsFile::load(file)); }

std::uint64_t fingerprint(const LearnerState& state) { return run::fingerprint(state.tensors.at("parameters")); }

}  // namespace foxhunt::dqn
