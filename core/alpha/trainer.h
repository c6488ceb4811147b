#pragma once
#include <optional>

#include "core/alpha/checkpoint.h"
#include "core/alpha/config.h"
#include "core/alpha/device_dataset.h"
#include "core/alpha/evaluator.h"
#include "core/run/early_stopping.h"
#include "core/run/guard.h"
#include "core/run/metrics_record.h"
#include "core/run/phases.h"
#include "core/run/progress.h"
#include "core/run/run_directory.h"

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
  /// Takes the memory and gets ready. Throws Error(device) when it does not fit, and as load_model and require_shape do
  /// for alpha.initial_checkpoint.
  void initialise();

  struct Reporting {
    run::MetricsRecord* metrics = nullptr;
    run::Progress* progress = nullptr;
    run::PhaseTimer* phases = nullptr;
    const run::RunDirectory* directory = nullptr;  ///< receives checkpoints; none: nothing is written
  };
  /// Runs all epochs, or until early stopping, a signal or an error ends them; judges the best state on the test split.
  /// Throws Error(numerics), Error(time_budget), Error(storage).
  Outcome run(const Reporting& reporting);

  /// Runs `count` training steps with a bounded number in flight, watching the health word; all done when it returns.
  /// Fewer after a signal.
  void advance(std::int64_t count);

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
  void train_epoch(const Reporting& reporting);
  void report(const Reporting& reporting, bool last);
  /// Scores the validation split; keeps the state when it is the best. True when training should stop.
  bool validate(const Reporting& reporting, Outcome& outcome);
  void save(const Reporting& reporting, const std::string& name, const std::vector<float>& learner);
  void conclude(const Reporting& reporting, Outcome& outcome);
  void judge_best(const Reporting& reporting, Outcome& outcome);
  void check_time_budget(const Reporting& reporting) const;

  Device& device_;
  const profile::Profile& profile_;
  const Dataset& data_;
  Model model_;
  ModelDescription description_;
  DeviceDataset dataset_;
  Evaluator validation_, test_;
  run::Guard guard_;
  Arena arena_;
  run::EarlyStopping early_stopping_;
  std::optional<std::vector<float>> best_;  ///< Model::learner_block
  std::vector<float> initial_parameters_, losses_;
  std::int64_t iteration_ = 0, epoch_ = 0;
};

}  // namespace foxhunt::alpha
