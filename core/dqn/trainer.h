#pragma once
#include <functional>
#include <optional>

#include "core/dqn/checkpoint.h"
#include "core/dqn/evaluator.h"
#include "core/dqn/guard.h"
#include "core/dqn/market_loader.h"
#include "core/run/early_stopping.h"
#include "core/run/metrics.h"
#include "core/run/phases.h"
#include "core/run/progress.h"
#include "core/run/run_directory.h"

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
  double best_metric = 0;         ///< of the validation split; NaN when it was never better than nothing
  std::int64_t best_epoch = -1;   ///< -1: never evaluated while training
  std::uint64_t fingerprint = 0;  ///< of the last parameters
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
  /// Takes the memory and gets ready. Throws Error(device) when it does not fit.
  void initialise();

  struct Reporting {
    run::MetricsLog* metrics = nullptr;
    run::Progress* progress = nullptr;
    run::PhaseTimer* phases = nullptr;
    const run::RunDirectory* directory = nullptr;  ///< receives checkpoints; none: nothing is written
    run::MetricsLog* validations = nullptr;        ///< a line an evaluation of the validation split
  };
  /// Runs all epochs, or until early stopping, a signal or an error ends them; evaluates the best state on the test
  /// split. Throws Error(numerics), Error(time_budget), Error(storage).
  Outcome run(const Reporting& reporting);

  Agent& agent() { return agent_; }
  Evaluator& validation() { return validation_; }
  Evaluator& test() { return test_; }
  Guard& guard() { return guard_; }
  /// What the records of both evaluators are measured against.
  const Account& account() const { return account_; }
  Device& device() { return device_; }
  const std::vector<float>& initial_parameters() const { return initial_parameters_; }
  std::int64_t nonfinite_losses() const { return nonfinite_losses_; }
  std::int64_t losses_seen() const { return losses_seen_; }

  /// Runs `count` iterations with a bounded number in flight, watching the health word; all done when it returns.
  void advance(std::int64_t count);

 private:
  std::size_t memory_limit() const;
  void train_epoch(const Reporting& reporting);
  void report(const Reporting& reporting, const Health& health, bool last);
  /// Evaluates the validation split; keeps the state when it is the best. True when training should stop.
  bool validate(const Reporting& reporting, Outcome& outcome);
  void save(const Reporting& reporting, const std::string& name, const LearnerState& state, std::int64_t epoch);
  void remove_old_checkpoints(const Reporting& reporting) const;
  void conclude(const Reporting& reporting, Outcome& outcome);
  std::vector<BaselineResult> run_baselines();
  void check_time_budget(const Reporting& reporting) const;
  double metric_of(const Performance& performance) const;

  Device& device_;
  const profile::Profile& profile_;
  const LoadedMarket& market_;
  DqnConfig config_;
  Account account_;
  Agent agent_;
  Evaluator validation_, test_;
  Guard guard_;
  DeviceMarket device_market_;
  Arena arena_;
  run::EarlyStopping early_stopping_;
  std::optional<LearnerState> best_;
  std::vector<float> initial_parameters_;
  std::int64_t iteration_ = 0, epoch_ = 0, nonfinite_losses_ = 0, losses_seen_ = 0;
};

}  // namespace foxhunt::dqn
