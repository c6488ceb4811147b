#pragma once
#include <optional>

#include "core/dqn/evaluation_record.h"
#include "core/dqn/evaluator.h"
#include "core/dqn/market_loader.h"
#include "core/dqn/training_state.h"
#include "core/run/checkpoint_folder.h"
#include "core/run/guard.h"
#include "core/run/reporting.h"
#include "core/run/training_loop.h"

namespace foxhunt::dqn {

/// What a baseline policy makes of the test split.
struct BaselineResult {
  std::string name;
  Performance test;
};

/// How a training ended.
struct Outcome {
  std::string reason;  ///< "all epochs done", early stopping's reason, "interrupted" ...
  std::int64_t iterations = 0, updates = 0, epochs = 0;
  double training_seconds = 0;
  Performance validation, test;
  std::vector<BaselineResult> baselines;
  nlohmann::ordered_json evaluation;  ///< EvaluationRecord::json of the test split; null when there was no evaluation
  double best_metric = 0;             ///< of the validation split; NaN when it was never better than nothing
  std::int64_t best_epoch = -1;       ///< -1: never evaluated while training
  std::uint64_t fingerprint = 0;      ///< of the last parameters
};

/// Trains one DQN agent: owns its memory, runs its program, watches over it, keeps its best state.
class Trainer {
 public:
  Trainer(Device& device, const profile::Profile& profile, const LoadedMarket& market);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// "needs 12.3 MiB; 3.6 GiB free", before anything is allocated.
  std::string memory_budget() const { return arena_.budget(memory_limit()); }
  std::size_t memory_bytes() const { return arena_.bytes(); }
  const Arena& arena() const { return arena_; }
  /// Of a checkpoint with all that training goes on from, the best learner included; its header aside.
  std::size_t checkpoint_bytes() const;
  /// Takes the memory and gets ready. Throws Error(device) when it does not fit.
  void initialise();

  using Reporting = run::Reporting;
  /// Runs the epochs that are left, or until early stopping, a signal or an error ends them; evaluates the best state
  /// on the test split. Throws Error(numerics), Error(time_budget), Error(storage).
  Outcome run(const Reporting& reporting);

  /// Everything that training goes on from. All queued iterations must be done.
  TrainingState state() const;
  /// Takes up a state, after initialise(). Throws Error(device) when its sizes are not this trainer's.
  void restore(const TrainingState& state);
  std::int64_t iteration() const { return loop_.iteration(); }

  Agent& agent() { return agent_; }
  const Agent& agent() const { return agent_; }
  Evaluator& validation() { return validation_; }
  Evaluator& test() { return test_; }
  run::Guard& guard() { return guard_; }
  /// What the records of both evaluators are measured against.
  const Account& account() const { return account_; }
  Device& device() { return device_; }
  const std::vector<float>& initial_parameters() const { return initial_parameters_; }
  std::int64_t nonfinite_losses() const { return nonfinite_losses_; }
  std::int64_t losses_seen() const { return losses_seen_; }

  /// run::TrainingLoop::advance.
  bool advance(std::int64_t count) { return loop_.advance(count); }

 private:
  std::size_t memory_limit() const;
  void report(const Reporting& reporting, const Health& health, bool last);
  void append_metrics(run::MetricsRecord& metrics, const Health& health) const;
  std::vector<run::ProgressField> progress_fields(const run::Progress& progress, const Health& health) const;
  /// Evaluates the validation split; keeps the state when it is the best.
  void validate(const Reporting& reporting);
  void open_checkpoints(const Reporting& reporting);
  void save_epoch(const Reporting& reporting);
  void conclude(const Reporting& reporting, Outcome& outcome);
  std::vector<BaselineResult> run_baselines(EvaluationRecord& record);
  /// The agent on the test split.
  Performance test_agent(const Reporting& reporting, EvaluationRecord& record);
  double metric_of(const Performance& performance) const;

  Device& device_;
  const profile::Profile& profile_;
  const LoadedMarket& market_;
  DqnConfig config_;
  Account account_;
  Agent agent_;
  Evaluator validation_, test_;
  run::Guard guard_;
  DeviceMarket device_market_;
  Arena arena_;
  run::TrainingLoop loop_;
  std::optional<LearnerState> best_;
  std::vector<float> initial_parameters_;
  std::vector<std::string> action_names_;  ///< of the metrics that tell how often each was taken
  std::int64_t nonfinite_losses_ = 0, losses_seen_ = 0;
  std::int64_t first_updates_ = 0;                    ///< where this process began
  Performance validated_;                             ///< the latest that this process measured
  std::optional<run::CheckpointFolder> checkpoints_;  ///< last, for its thread reads what is above
};

}  // namespace foxhunt::dqn
