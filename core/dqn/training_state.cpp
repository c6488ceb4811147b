#include "core/dqn/training_state.h"

#include <fmt/format.h>

#include <cstring>

namespace foxhunt::dqn {
namespace {

using run::DType;

const std::string trainer_prefix = "trainer.", best_prefix = "best.", good_learner = "guard.good_learner";

/// The numbers of a state by name, once for saving and for loading.
template <class State, class Visit>
void each_number(State& s, const Visit& visit) {
  visit("iteration", s.iteration);
  visit("epoch", s.epoch);
  visit("losses_seen", s.losses_seen);
  visit("nonfinite_losses", s.nonfinite_losses);
  visit("best_epoch", s.best_epoch);
  visit("best_metric", s.best_metric);
  visit("training_seconds", s.training_seconds);
  visit("early_stopping.best", s.early_stopping.best);
  visit("early_stopping.last", s.early_stopping.last);
  visit("early_stopping.best_index", s.early_stopping.best_index);
  visit("early_stopping.evaluations", s.early_stopping.evaluations);
  visit("guard.trips", s.guard.trips);
  visit("guard.rollbacks", s.guard.rollbacks);
  visit("guard.kept_at", s.guard.kept_at);
}

std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }

std::int64_t number_of(const run::SafetensorsFile& file, const std::string& name) {
  std::int64_t value = 0;
  file.copy(trainer_prefix + name, std::span(&value, 1));
  return value;
}

}  // namespace

std::vector<PersistentTensor> persistent_tensors(const Agent& agent) {
  std::vector<PersistentTensor> tensors;
  const auto add = [&](const std::string& name, auto span, DType dtype, std::vector<std::int64_t> shape) {
    const auto offset = reinterpret_cast<const std::byte*>(span.data) - agent.persistent().data;
    tensors.push_back({name, dtype, std::move(shape), static_cast<std::size_t>(offset), span.bytes()});
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
  std::vector<run::TensorView> views;
  const std::span<const std::byte> persistent(state.persistent);
  for (const PersistentTensor& tensor : persistent_tensors(agent))
    views.push_back({tensor.name, tensor.dtype, tensor.shape, persistent.subspan(tensor.offset, tensor.bytes)});
  each_number(state, [&](const std::string& name, const auto& value) {
    views.push_back(run::tensor_view(trainer_prefix + name, {}, std::span(&value, 1)));
  });
  const auto stopped = static_cast<std::int32_t>(state.early_stopping.reason);
  views.push_back(run::tensor_view(trainer_prefix + "early_stopping.reason", {}, std::span(&stopped, 1)));
  if (state.best)
    for (const auto& [name, values] : state.best->tensors)
      views.push_back(run::tensor_view(best_prefix + name, {count(values.size())}, std::span<const float>(values)));
  if (!state.guard.good.empty())
    views.push_back(
        run::tensor_view(good_learner, {count(state.guard.good.size())}, std::span<const float>(state.guard.good)));
  save_with_layers(file, agent, std::move(views), std::move(metadata));
}

TrainingState load_training(const run::SafetensorsFile& file, const Agent& agent) {
  TrainingState state;
  each_number(state,
              [&](const std::string& name, auto& value) { file.copy(trainer_prefix + name, std::span(&value, 1)); });
  std::int32_t stopped = 0;
  file.copy(trainer_prefix + "early_stopping.reason", std::span(&stopped, 1));
  state.early_stopping.reason = static_cast<run::EarlyStopping::Reason>(stopped);

  state.persistent.resize(agent.persistent_bytes());
  for (const PersistentTensor& tensor : persistent_tensors(agent))
    file.copy_bytes(tensor.name, tensor.dtype, std::span(state.persistent).subspan(tensor.offset, tensor.bytes));
  if (file.contains(best_prefix + "parameters")) {
    state.best.emplace();
    for (const nn::Learner::Tensor& tensor : agent.learner().state()) {
      std::vector<float>& values = state.best->tensors[tensor.name];
      values.resize(tensor.span.size);
      file.copy(best_prefix + tensor.name, std::span(values));
    }
  }
  if (file.contains(good_learner)) {
    state.guard.good.resize(agent.learner().block_floats());
    file.copy(good_learner, std::span(state.guard.good));
  }
  return state;
}

bool holds_training(const run::SafetensorsFile& file) { return file.contains(trainer_prefix + "iteration"); }

std::int64_t iteration_of(const run::SafetensorsFile& file) { return number_of(file, "iteration"); }
std::int64_t epoch_of(const run::SafetensorsFile& file) { return number_of(file, "epoch"); }

}  // namespace foxhunt::dqn
