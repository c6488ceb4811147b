#include "core/alpha/training_state.h"

namespace foxhunt::alpha {
namespace {

using run::DType, run::trainer_prefix;

const std::string losses = trainer_prefix + "losses", initial_parameters = trainer_prefix + "initial_parameters",
                  best_learner = "best.learner";

/// The scores of the best state by name, once for saving and for loading.
template <class State, class Visit>
void each_score(State& s, const Visit& visit) {
  visit("best.loss", std::span(&s.best_scores.loss, 1));
  visit("best.mean_auc", std::span(&s.best_scores.mean_auc, 1));
  visit("best.auc", std::span(s.best_scores.auc));
  visit("best.log_loss", std::span(s.best_scores.log_loss));
}

std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }

}  // namespace

std::vector<run::PersistentTensor> persistent_tensors(const Model& model) {
  std::vector<run::PersistentTensor> tensors;
  const auto add = [&](const std::string& name, auto span, DType dtype, std::vector<std::int64_t> shape) {
    tensors.push_back(run::persistent_tensor(model, name, dtype, std::move(shape), span));
  };
  for (const auto& [name, span] : model.learner_tensors()) add("state." + name, span, DType::f32, {count(span.size)});
  const std::int64_t windows = model.options().windows, hidden = model.options().trunk.hidden;
  add("isv", model.isv(), DType::f32, {isv_slot_count});
  add("counters", model.counters(), DType::u32, {counter_count});
  add("windows.starts", model.starts(), DType::i32, {windows});
  add("windows.state", model.initial_state(), DType::f32, {windows, hidden});
  return tensors;
}

void save_training(const std::filesystem::path& file, const Model& model, const ModelDescription& description,
                   const TrainingState& state, std::map<std::string, std::string> metadata) {
  std::vector<run::TensorView> views = run::training_views(state, persistent_tensors(model));
  const auto add = [&](const std::string& name, auto values) {
    views.push_back(
        run::tensor_view(name, {count(values.size())}, std::span<const typename decltype(values)::value_type>(values)));
  };
  add(losses, std::span(state.losses));
  add(initial_parameters, std::span(state.initial_parameters));
  if (state.best) {
    add(best_learner, std::span(*state.best));
    each_score(state, [&](const std::string& name, auto values) { add(name, values); });
  }
  save_with_matrices(file, model.layout(), std::move(views), description, std::move(metadata));
}

TrainingState load_training(const run::SafetensorsFile& file, const Model& model) {
  TrainingState state;
  run::read_training(file, model, persistent_tensors(model), state);
  state.seen = rows_seen_in(file);
  state.losses.resize(file.tensor(losses).data.size() / sizeof(float));
  file.copy(losses, std::span(state.losses));
  state.initial_parameters.resize(model.parameters().size);
  file.copy(initial_parameters, std::span(state.initial_parameters));
  if (file.contains(best_learner)) {
    state.best.emplace(model.learner_floats());
    file.copy(best_learner, std::span(*state.best));
    each_score(state, [&](const std::string& name, auto values) { file.copy(name, std::span<double>(values)); });
  }
  return state;
}

}  // namespace foxhunt::alpha
