#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/profile/profile.h"
#include "core/run/early_stopping.h"
#include "core/run/guard.h"
#include "core/run/reporting.h"
#include "core/run/training_state.h"

namespace foxhunt::run {

/// The loop that every model trains in: epochs of iterations under the guard's eye, with reports, evaluations and
/// checkpoints when they are due. All of it falls on the same iterations whether or not the run was stopped in between
/// and taken up again.
class TrainingLoop {
 public:
  /// All must outlive it. `metric`: name of what the evaluations are judged by.
  TrainingLoop(Device& device, Trainee& trainee, Guard& guard, const profile::Profile& profile,
               std::int64_t iterations_per_epoch, std::string metric);

  /// What the model does when it is due.
  struct Steps {
    std::function<void()> report;      ///< at every multiple of run.log_every and at the end of an epoch
    std::function<void()> validate;    ///< calls judge()
    std::function<void()> save_epoch;  ///< writes a checkpoint
  };
  /// Trains the epochs that are left, until early stopping or a signal ends them; returns why it ended, in words.
  /// Throws Error(numerics), Error(time_budget), and what the steps throw.
  std::string run(const Reporting& reporting, const Steps& steps);

  /// Runs `count` iterations with a bounded number in flight, watching the health word; all done when it returns. False
  /// when it was asked to stop and did so before the last.
  bool advance(std::int64_t count);

  /// Hears of an evaluation of the state of now. True: the best so far.
  bool judge(double metric);

  bool stop_asked() const { return stop_asked(iteration_); }

  std::int64_t iteration() const { return iteration_; }              ///< finished
  std::int64_t epoch() const { return epoch_; }                      ///< finished
  std::int64_t first_iteration() const { return first_iteration_; }  ///< where this process began
  const std::string& metric() const { return metric_; }
  std::int64_t best_epoch() const { return best_epoch_; }  ///< -1: never evaluated
  std::int64_t best_iteration() const { return best_epoch_ * iterations_per_epoch_; }
  double best_metric() const { return best_metric_; }
  double training_seconds() const;  ///< of every process that trained this run

  /// Fills what is common to all models, the trainee's memory included. All queued iterations must be done.
  void write(TrainingState& state) const;
  /// Takes up all of it but the trainee's memory, which is to be restored before.
  void restore(const TrainingState& state);

 private:
  /// False when it was asked to stop within the epoch.
  bool train_epoch(const Reporting& reporting, const Steps& steps);
  bool stop_asked(std::int64_t iteration) const;
  bool stopped_early() const { return profile_.early_stopping.enabled && early_stopping_.stopped(); }
  void check_time_budget(const Reporting& reporting) const;

  Device& device_;
  Trainee& trainee_;
  Guard& guard_;
  const profile::Profile& profile_;
  std::int64_t iterations_per_epoch_;
  std::string metric_;
  EarlyStopping early_stopping_;
  std::function<bool(std::int64_t)> stop_asked_;
  std::int64_t iteration_ = 0, epoch_ = 0, first_iteration_ = 0, best_epoch_ = -1;
  double best_metric_ = 0;
  double seconds_before_ = 0;  ///< of training, before the run was taken up
  PhaseTimer::Clock::time_point started_ = PhaseTimer::Clock::now();
};

}  // namespace foxhunt::run
