#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/run/early_stopping.h"
#include "core/run/guard.h"
#include "core/run/safetensors.h"
#include "core/run/trainee.h"

namespace foxhunt::run {

/// What every training goes on from, whichever model it trains, on the host.
struct TrainingState {
  std::int64_t iteration = 0, epoch = 0;  ///< finished
  std::int64_t best_epoch = -1;           ///< -1: never evaluated
  double best_metric = 0;
  double training_seconds = 0;
  EarlyStopping::State early_stopping;
  Guard::State guard;
  std::vector<std::byte> persistent;  ///< Trainee::persistent
};

/// One tensor inside Trainee::persistent.
struct PersistentTensor {
  std::string name;
  DType dtype;
  std::vector<std::int64_t> shape;
  std::size_t offset, bytes;
};
template <class T>
PersistentTensor persistent_tensor(const Trainee& trainee, std::string name, DType dtype,
                                   std::vector<std::int64_t> shape, DeviceSpan<T> span) {
  const auto offset = reinterpret_cast<const std::byte*>(span.data) - trainee.persistent().data;
  return {std::move(name), dtype, std::move(shape), static_cast<std::size_t>(offset), span.bytes()};
}

/// A model's own number or list of numbers in a checkpoint is called this and its name.
inline const std::string trainer_prefix = "trainer.";

/// The state by name, as a checkpoint holds it. `tensors` cover `persistent`. The views live as long as the state.
std::vector<TensorView> training_views(const TrainingState& state, const std::vector<PersistentTensor>& tensors);
/// Fills `state` from what training_views gave. Throws Error(storage) when something is missing or of another size.
void read_training(const SafetensorsFile& file, const Trainee& trainee, const std::vector<PersistentTensor>& tensors,
                   TrainingState& state);

/// Whether the file holds what training_views gave, and not a learner alone.
bool holds_training(const SafetensorsFile& file);
/// Iteration and epoch of a checkpoint that holds a training. Throws Error(storage) for another file.
std::int64_t iteration_of(const SafetensorsFile& file);
std::int64_t epoch_of(const SafetensorsFile& file);

}  // namespace foxhunt::run
