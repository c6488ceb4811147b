#include "core/run/training_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "core/run/interrupt.h"

namespace foxhunt::run {

TrainingLoop::TrainingLoop(Device& device, Trainee& trainee, Guard& guard, const profile::Profile& profile,
                           std::int64_t iterations_per_epoch, std::string metric)
    : device_(device),
      trainee_(trainee),
      guard_(guard),
      profile_(profile),
      iterations_per_epoch_(iterations_per_epoch),
      metric_(std::move(metric)),
      early_stopping_(profile.early_stopping) {}

std::string TrainingLoop::run(const Reporting& reporting, const Steps& steps) {
  stop_asked_ = reporting.stop_asked;
  started_ = PhaseTimer::Clock::now();
  first_iteration_ = iteration_;
  const auto due = [&](std::int64_t every) { return every > 0 && epoch_ % every == 0; };
  while (epoch_ < profile_.training.epochs && !stopped_early()) {
    if (!train_epoch(reporting, steps)) return "interrupted by a signal";
    ++epoch_;
    if (due(profile_.evaluation.every_epochs)) steps.validate();
    if (due(profile_.checkpoint.every_epochs) && !stopped_early()) steps.save_epoch();
    if (stop_asked()) return "interrupted by a signal";
  }
  return stopped_early() ? fmt::format("early stopping by {}: {}", metric_, early_stopping_.reason_text())
                         : "all epochs done";
}

bool TrainingLoop::train_epoch(const Reporting& reporting, const Steps& steps) {
  const std::int64_t end = (epoch_ + 1) * iterations_per_epoch_;
  while (iteration_ < end) {
    if (stop_asked()) return false;
    const std::int64_t to_log = profile_.run.log_every - iteration_ % profile_.run.log_every;
    {
      const auto timed = reporting.phase("train");
      if (!advance(std::min(end - iteration_, to_log))) return false;
    }
    steps.report();
    check_time_budget(reporting);
  }
  return true;
}

bool TrainingLoop::advance(std::int64_t count) {
  // Two batches in flight: the host looks at the health of one while the device works on the next. Batches and looks
  // fall on the same iterations whether or not the run was stopped in between and taken up again.
  const std::int64_t batch = std::max<std::int64_t>(1, profile_.training.iterations_in_flight / 2);
  guard_.keep_diagnosis_start(trainee_.health());
  std::deque<std::unique_ptr<Fence>> queued;
  std::int64_t done = 0;
  while (done < count) {
    if (done > 0) {
      if (queued.size() == 2) {
        queued.front()->wait();
        queued.pop_front();
      }
      guard_.check(trainee_.health());
      if (stop_asked(iteration_ + done)) break;
    }
    const std::int64_t some = std::min(batch, count - done);
    trainee_.iterate(static_cast<int>(some));
    queued.push_back(device_.fence());
    done += some;
  }
  device_.synchronize();
  guard_.check(trainee_.health());
  iteration_ += done;
  if (done < count) return false;
  guard_.keep_good_state(trainee_.health());
  return true;
}

bool TrainingLoop::judge(double metric) {
  if (early_stopping_.update(metric) != EarlyStopping::Decision::improved) return false;
  best_epoch_ = epoch_;
  best_metric_ = metric;
  return true;
}

bool TrainingLoop::stop_asked(std::int64_t iteration) const {
  return stop_asked_ ? stop_asked_(iteration) : pending_signal() != 0;
}

double TrainingLoop::training_seconds() const {
  return seconds_before_ + std::chrono::duration<double>(PhaseTimer::Clock::now() - started_).count();
}

void TrainingLoop::write(TrainingState& s) const {
  s.iteration = iteration_;
  s.epoch = epoch_;
  s.best_epoch = best_epoch_;
  s.best_metric = best_metric_;
  s.training_seconds = training_seconds();
  s.early_stopping = early_stopping_.state();
  s.guard = guard_.state();
  s.persistent = device_.download(trainee_.persistent());
}

void TrainingLoop::restore(const TrainingState& s) {
  iteration_ = s.iteration;
  epoch_ = s.epoch;
  best_epoch_ = s.best_epoch;
  best_metric_ = s.best_metric;
  seconds_before_ = s.training_seconds;
  early_stopping_.restore(s.early_stopping);
  guard_.restore(s.guard);
}

void TrainingLoop::check_time_budget(const Reporting& reporting) const {
  if (!profile_.smoketest.enabled || !reporting.phases) return;
  if (reporting.phases->elapsed() > profile_.smoketest.budget_seconds)
    throw Error(ExitCode::time_budget,
                fmt::format("smoketest: {:.1f} s passed at iteration {}, smoketest.budget_seconds is {:.0f}; shorten "
                            "training.epochs, use a faster device or raise the budget",
                            reporting.phases->elapsed(), iteration_, profile_.smoketest.budget_seconds));
}

}  // namespace foxhunt::run
