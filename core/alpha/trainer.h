#pragma once
#include <optional>

#include "core/alpha/config.h"
#include "core/alpha/device_dataset.h"
#include "core/alpha/training_state.h"
#include "core/run/checkpoint_folder.h"
#include "core/run/guard.h"
#include "core/run/reporting.h"
#include "core/run/training_loop.h"

namespace foxhunt::alpha {

/// How a training ended.
struct Outcome {
  std::string reason;  ///< "all epochs done", early stopping's reason, "interrupted by a signal"
  std::int64_t iterations = 0, updates = 0, epochs = 0;
  double training_seconds = 0;
  Scores validation, test;         ///< of the best state
  std::optional<GateResult> gate;  ///< of the best state on the test split; none when the run was interrupted
  std::string metric;              ///< "auc", or "-loss": higher is better
  double best_metric = 0;          ///< of the validation split
  std::int64_t best_epoch = -1;    ///< -1: never evaluated
  std::uint64_t fingerprint = 0;   ///< of the last parameters
};

/// Trains one alpha model: owns its memory, runs its program, watches over it, keeps its best state.
class Trainer {
 public:
  /// All must outlive it.
  Trainer(Device& device, const profile::Profile& profile, const Dataset& data);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// "needs 12.3 MiB; 3.6 GiB free", before anything is allocated.
  std::string memory_budget() const { return arena_.budget(memory_limit()); }
  std::size_t memory_bytes() const { return arena_.bytes(); }
  const Arena& arena() const { return arena_; }
  /// Takes the memory and gets ready. A run that goes on calls restore() next, and needs no alpha.initial_checkpoint
  /// any more. Throws Error(device) when it does not fit, and as load_model and require_shape do for that checkpoint.
  void initialise(bool goes_on = false);

  using Reporting = run::Reporting;
  /// Runs the epochs that are left, or until early stopping, a signal or an error ends them; judges the best state on
  /// the test split. Throws Error(numerics), Error(time_budget), Error(storage).
  Outcome run(const Reporting& reporting);

  /// run::TrainingLoop::advance, by training steps.
  bool advance(std::int64_t count) { return loop_.advance(count); }

  /// Everything that training goes on from. All queued steps must be done.
  TrainingState state() const;
  /// Takes up a state, after initialise(). Throws Error(device) when its sizes are not this trainer's.
  void restore(const TrainingState& state);
  std::int64_t iteration() const { return loop_.iteration(); }

  Device& device() { return device_; }
  const Dataset& data() const { return data_; }
  Model& model() { return model_; }
  const Model& model() const { return model_; }
  Evaluator& test() { return test_; }
  const DeviceSnapshots& snapshots() const { return dataset_.snapshots(); }
  run::Guard& guard() { return guard_; }
  const ModelDescription& description() const { return description_; }
  const std::vector<float>& initial_parameters() const { return initial_parameters_; }
  /// Those that were reported, in their order.
  const std::vector<float>& losses() const { return losses_; }
  std::size_t training_windows() const { return dataset_.windows(); }

 private:
  std::size_t memory_limit() const { return static_cast<std::size_t>(profile_.device.memory_limit) << 20; }
  void load_initial_checkpoint();
  void open_checkpoints(const Reporting& reporting);
  void report(const Reporting& reporting, bool last);
  /// Scores the validation split; keeps the state when it is the best.
  void validate(const Reporting& reporting);
  void save_best(run::CheckpointFolder::Trained at);
  void save_epoch(const Reporting& reporting);
  run::CheckpointFolder::Write training_writer() const;
  void conclude(const Reporting& reporting, Outcome& outcome);
  void judge_best(const Reporting& reporting, Outcome& outcome);

  Device& device_;
  const profile::Profile& profile_;
  const Dataset& data_;
  Model model_;
  ModelDescription description_;
  DeviceDataset dataset_;
  Evaluator validation_, test_;
  run::Guard guard_;
  Arena arena_;
  run::TrainingLoop loop_;
  std::optional<std::vector<float>> best_;  ///< Model::learner_block
  Scores best_scores_;                      ///< of the validation split
  std::vector<float> initial_parameters_, losses_;
  std::optional<run::CheckpointFolder> checkpoints_;  ///< last, for its thread reads what is above
};

}  // namespace foxhunt::alpha
