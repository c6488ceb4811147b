#include "core/run/training_state.h"

namespace foxhunt::run {
namespace {

const std::string good_learner = "guard.good_learner", stop_reason = trainer_prefix + "early_stopping.reason";

/// The numbers of a state by name, once for saving and for loading.
template <class State, class Visit>
void each_number(State& s, const Visit& visit) {
  visit("iteration", s.iteration);
  visit("epoch", s.epoch);
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

std::int64_t number_of(const SafetensorsFile& file, const std::string& name) {
  std::int64_t value = 0;
  file.copy(trainer_prefix + name, std::span(&value, 1));
  return value;
}

}  // namespace

std::vector<TensorView> training_views(const TrainingState& state, const std::vector<PersistentTensor>& tensors) {
  std::vector<TensorView> views;
  const std::span<const std::byte> persistent(state.persistent);
  for (const PersistentTensor& tensor : tensors)
    views.push_back({tensor.name, tensor.dtype, tensor.shape, persistent.subspan(tensor.offset, tensor.bytes)});
  each_number(state, [&](const std::string& name, const auto& value) {
    views.push_back(tensor_view(trainer_prefix + name, {}, std::span(&value, 1)));
  });
  views.push_back({stop_reason, DType::i32, {}, std::as_bytes(std::span(&state.early_stopping.reason, 1))});
  if (!state.guard.good.empty())
    views.push_back(tensor_view(good_learner, {static_cast<std::int64_t>(state.guard.good.size())},
                                std::span<const float>(state.guard.good)));
  return views;
}

void read_training(const SafetensorsFile& file, const Trainee& trainee, const std::vector<PersistentTensor>& tensors,
                   TrainingState& state) {
  each_number(state,
              [&](const std::string& name, auto& value) { file.copy(trainer_prefix + name, std::span(&value, 1)); });
  file.copy_bytes(stop_reason, DType::i32, std::as_writable_bytes(std::span(&state.early_stopping.reason, 1)));
  state.persistent.resize(trainee.persistent_bytes());
  for (const PersistentTensor& tensor : tensors)
    file.copy_bytes(tensor.name, tensor.dtype, std::span(state.persistent).subspan(tensor.offset, tensor.bytes));
  if (file.contains(good_learner)) {
    state.guard.good.resize(trainee.learner_floats());
    file.copy(good_learner, std::span(state.guard.good));
  }
}

bool holds_training(const SafetensorsFile& file) { return file.contains(trainer_prefix + "iteration"); }

std::int64_t iteration_of(const SafetensorsFile& file) { return number_of(file, "iteration"); }
std::int64_t epoch_of(const SafetensorsFile& file) { return number_of(file, "epoch"); }

}  // namespace foxhunt::run
