#include "core/dqn/training_state.h"

namespace foxhunt::dqn {
namespace {

using run::DType;

const std::string best_prefix = "best.";

/// The numbers that other models do not have, by name, once for saving and for loading.
template <class State, class Visit>
void each_number(State& s, const Visit& visit) {
  visit(run::trainer_prefix + "losses_seen", s.losses_seen);
  visit(run::trainer_prefix + "nonfinite_losses", s.nonfinite_losses);
}

std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }

}  // namespace

std::vector<run::PersistentTensor> persistent_tensors(const Agent& agent) {
  std::vector<run::PersistentTensor> tensors;
  const auto add = [&](const std::string& name, auto span, DType dtype, std::vector<std::int64_t> shape) {
    tensors.push_back(run::persistent_tensor(agent, name, dtype, std::move(shape), span));
  };
  const auto floats = [&](const std::string& name, DeviceSpan<const float> span) {
    add(name, span, DType::f32, {count(span.size)});
  };
  for (const nn::Learner::Tensor& tensor : agent.learner().state()) floats("state." + tensor.name, tensor.span);
  floats("learner.gradient", agent.learner().gradient());
  floats("learner.gradient_norm", agent.learner().norm());
  const EpisodeRing& ring = agent.ring();
  const std::int64_t lanes = ring.episodes, length = ring.length;
  add("episodes.start_rows", ring.start_rows, DType::i32, {count(ring.start_rows.size)});
  add("episodes.positions", ring.positions, DType::f32, {ring.actions});
  add("episodes.chosen", ring.chosen, DType::i32, {lanes});
  add("episodes.state", ring.state, DType::u8, {lanes, sizeof(Episode)});
  add("replay.row", ring.row, DType::i32, {length, lanes});
  add("replay.portfolio", ring.portfolio, DType::f32, {length, lanes, portfolio_width});
  add("replay.action", ring.action, DType::i32, {length, lanes});
  add("replay.reward", ring.reward, DType::f32, {length, lanes});
  add("replay.flags", ring.flags, DType::u8, {length, lanes});
  add("replay.priority", ring.priority, DType::f32, {length, lanes});
  add("isv", agent.isv(), DType::f32, {isv_slot_count});
  add("counters", agent.counters(), DType::u32, {counter_count});
  return tensors;
}

void save_training(const std::filesystem::path& file, const Agent& agent, const TrainingState& state,
                   std::map<std::string, std::string> metadata) {
  std::vector<run::TensorView> views = run::training_views(state, persistent_tensors(agent));
  each_number(state, [&](const std::string& name, const auto& value) {
    views.push_back(run::tensor_view(name, {}, std::span(&value, 1)));
  });
  if (state.best)
    for (const auto& [name, values] : state.best->tensors)
      views.push_back(run::tensor_view(best_prefix + name, {count(values.size())}, std::span<const float>(values)));
  save_with_layers(file, agent, std::move(views), std::move(metadata));
}

TrainingState load_training(const run::SafetensorsFile& file, const Agent& agent) {
  TrainingState state;
  run::read_training(file, agent, persistent_tensors(agent), state);
  each_number(state, [&](const std::string& name, auto& value) { file.copy(name, std::span(&value, 1)); });
  if (file.contains(best_prefix + "parameters")) {
    state.best.emplace();
    for (const nn::Learner::Tensor& tensor : agent.learner().state()) {
      std::vector<float>& values = state.best->tensors[tensor.name];
      values.resize(tensor.span.size);
      file.copy(best_prefix + tensor.name, std::span(values));
    }
  }
  return state;
}

run::CheckpointFolder::Write training_writer(const Agent& agent, TrainingState state) {
  return [&agent, state = std::move(state)](const std::filesystem::path& file, auto metadata) {
    save_training(file, agent, state, std::move(metadata));
  };
}

run::CheckpointFolder::Write learner_writer(const Agent& agent, LearnerState learner) {
  return [&agent, learner = std::move(learner)](const std::filesystem::path& file, auto metadata) {
    save_checkpoint(file, agent, learner, std::move(metadata));
  };
}

}  // namespace foxhunt::dqn
