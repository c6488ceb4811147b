#include "core/alpha/trainer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "core/profile/printer.h"
#include "core/run/interrupt.h"

namespace foxhunt::alpha {
namespace {

run::PhaseTimer::Scope phase(const Trainer::Reporting& reporting, std::string_view name) {
  static run::PhaseTimer unwatched;
  return reporting.phases ? reporting.phases->scope(name) : unwatched.scope(name);
}

/// What TensorBoard shows of a split.
void append_scores(run::MetricsRecord& metrics, std::int64_t iteration, const std::string& split, const Scores& s) {
  std::vector<std::string> names;
  for (std::size_t h = 0; h < alpha_horizons; ++h) names.push_back(fmt::format("auc_{}", h + 1));
  std::vector<run::Metric> results = {{"loss", s.loss}, {"mean_auc", s.mean_auc}};
  for (std::size_t h = 0; h < alpha_horizons; ++h) results.push_back({names[h], s.auc[h]});
  metrics.append_result(iteration, split, results);
}

}  // namespace

Trainer::Trainer(Device& device, const profile::Profile& profile, const Dataset& data)
    : device_(device),
      profile_(profile),
      data_(data),
      model_(device, model_options(profile)),
      description_{model_.options().trunk, data.horizons, data.tick, rows_seen_of(data)},
      dataset_(device, data, model_.options()),
      validation_(device, model_.options().trunk, data, data.splits.validation),
      test_(device, model_.options().trunk, data, data.splits.test),
      guard_(device, model_, profile.guards),
      arena_(device),
      early_stopping_(profile.early_stopping.patience, profile.early_stopping.min_delta) {
  model_.plan(arena_);
  dataset_.plan(arena_);
  guard_.plan(arena_);
  validation_.plan(arena_);
  test_.plan(arena_);
}

void Trainer::initialise() {
  arena_.commit(memory_limit());
  dataset_.upload();
  model_.initialise(dataset_.snapshots());
  load_initial_checkpoint();
  initial_parameters_ = device_.download(model_.parameters());
  guard_.keep_good_state(model_.health());
}

void Trainer::load_initial_checkpoint() {
  if (profile_.alpha.initial_checkpoint.empty()) return;
  const std::filesystem::path file = profile_.alpha.initial_checkpoint;
  const SavedModel saved = load_model(file);
  require_shape(file, saved.description, description_.trunk, description_.horizons);
  description_.seen = rows_seen_by_both(description_.seen, saved.description.seen);
  device_.upload(model_.parameters(), saved.parameters);
}

void Trainer::advance(std::int64_t count) {
  // Two batches in flight: the host looks at the health of one while the device works on the next.
  const std::int64_t batch = std::max<std::int64_t>(1, profile_.training.iterations_in_flight / 2);
  guard_.keep_diagnosis_start(model_.health());
  std::deque<std::unique_ptr<Fence>> queued;
  std::int64_t done = 0;
  while (done < count && run::pending_signal() == 0) {
    const std::int64_t some = std::min(batch, count - done);
    model_.iterate(static_cast<int>(some));
    done += some;
    queued.push_back(device_.fence());
    if (queued.size() < 2) continue;
    queued.front()->wait();
    queued.pop_front();
    guard_.check(model_.health());
  }
  device_.synchronize();
  guard_.check(model_.health());
  guard_.keep_good_state(model_.health());
  iteration_ += done;
}

Outcome Trainer::run(const Reporting& reporting) {
  Outcome outcome;
  outcome.metric = profile_.alpha.metric == "loss" ? "-loss" : "auc";
  if (reporting.directory) guard_.set_dump_folder(reporting.directory->path());
  const auto start = std::chrono::steady_clock::now();
  outcome.reason = "all epochs done";
  while (epoch_ < profile_.training.epochs) {
    train_epoch(reporting);
    if (run::pending_signal() != 0) {
      outcome.reason = "interrupted by a signal";
      break;
    }
    ++epoch_;
    const std::int64_t validate_every = profile_.evaluation.every_epochs, save_every = profile_.checkpoint.every_epochs;
    if (validate_every > 0 && epoch_ % validate_every == 0 && validate(reporting, outcome)) break;
    if (save_every > 0 && epoch_ % save_every == 0)
      save(reporting, fmt::format("epoch-{:06}", epoch_), device_.download(model_.learner_block()));
  }
  outcome.training_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  conclude(reporting, outcome);
  return outcome;
}

void Trainer::train_epoch(const Reporting& reporting) {
  const std::int64_t end = iteration_ + profile_.alpha.steps_per_epoch;
  while (iteration_ < end && run::pending_signal() == 0) {
    const std::int64_t to_log = profile_.run.log_every - iteration_ % profile_.run.log_every;
    {
      const auto timed = phase(reporting, "train");
      advance(std::min(end - iteration_, to_log));
    }
    report(reporting, false);
    check_time_budget(reporting);
  }
}

void Trainer::report(const Reporting& reporting, bool last) {
  const auto timed = phase(reporting, "log");
  const Health health = model_.health();
  const auto isv = [&](IsvSlot slot) { return health.isv[static_cast<std::size_t>(slot)]; };
  if (!last) losses_.push_back(isv(isv_loss));
  if (reporting.metrics && !last && iteration_ % profile_.run.log_every == 0) {
    const run::Metric row[] = {{"loss", static_cast<double>(isv(isv_loss))},
                               {"learning_rate", static_cast<double>(isv(isv_learning_rate))},
                               {"gradient_norm", static_cast<double>(isv(isv_gradient_norm))},
                               {"nonfinite_count", static_cast<double>(isv(isv_nonfinite_count))},
                               {"updates", static_cast<double>(health.counters[counter_updates])},
                               {"guard_trips", static_cast<double>(health.counters[counter_trips])}};
    reporting.metrics->append(iteration_, row);
  }
  if (!reporting.progress || !(last || reporting.progress->due())) return;
  const double rows_a_step = static_cast<double>(profile_.alpha.windows * profile_.alpha.steps);
  const run::ProgressField fields[] = {
      {"guard", guard_.trips() > 0 ? fmt::format("{} trips", guard_.trips()) : "ok"},
      {"loss", fmt::format("{:.4f}", isv(isv_loss))},
      {"gradient", fmt::format("{:.3g}", isv(isv_gradient_norm))},
      {"snapshots", run::rate_text(reporting.progress->rate(iteration_) * rows_a_step)},
      {"memory", fmt::format("{:.1f} MiB", static_cast<double>(memory_bytes()) / (1 << 20))}};
  last ? reporting.progress->finish(iteration_, fields) : reporting.progress->update(iteration_, fields);
}

bool Trainer::validate(const Reporting& reporting, Outcome& outcome) {
  const auto timed = phase(reporting, "validate");
  const Scores scores =
      score(data_, data_.splits.validation, validation_.run(model_.parameters(), dataset_.snapshots()));
  if (reporting.metrics) append_scores(*reporting.metrics, iteration_, "validation", scores);
  spdlog::debug("epoch {}: validation loss {:.5f}, mean AUC {:.4f}", epoch_, scores.loss, scores.mean_auc);
  const double metric = profile_.alpha.metric == "loss" ? -scores.loss : scores.mean_auc;
  const auto decision = early_stopping_.update(metric);
  if (decision == run::EarlyStopping::Decision::improved) {
    best_ = device_.download(model_.learner_block());
    outcome.validation = scores;
    outcome.best_epoch = epoch_;
    outcome.best_metric = metric;
    save(reporting, "best", *best_);
  }
  if (decision != run::EarlyStopping::Decision::stop || !profile_.early_stopping.enabled) return false;
  outcome.reason = fmt::format("early stopping by {}: {}", outcome.metric, early_stopping_.reason_text());
  return true;
}

void Trainer::save(const Reporting& reporting, const std::string& name, const std::vector<float>& learner) {
  if (!reporting.directory) return;
  const auto timed = phase(reporting, "save");
  save_model(reporting.directory->checkpoints() / (name + ".safetensors"), model_, learner, description_,
             {{"profile", profile_.name},
              {"profile_toml", profile::to_toml(profile_)},
              {"epoch", std::to_string(epoch_)},
              {"iteration", std::to_string(iteration_)}});
  remove_old_checkpoints(reporting.directory->checkpoints(), static_cast<std::size_t>(profile_.checkpoint.keep));
}

void Trainer::conclude(const Reporting& reporting, Outcome& outcome) {
  report(reporting, true);
  const std::vector<float> last = device_.download(model_.learner_block());
  save(reporting, "last", last);
  outcome.iterations = iteration_;
  outcome.updates = model_.health().counters[counter_updates];
  outcome.epochs = epoch_;
  outcome.fingerprint = run::fingerprint(device_.download(model_.parameters()));
  if (run::pending_signal() != 0) return;
  if (!best_) validate(reporting, outcome);
  if (best_) device_.upload(model_.learner_block(), *best_);
  judge_best(reporting, outcome);
  device_.upload(model_.learner_block(), last);
}

void Trainer::judge_best(const Reporting& reporting, Outcome& outcome) {
  std::vector<float> probability;
  {
    const auto timed = phase(reporting, "test");
    probability = test_.run(model_.parameters(), dataset_.snapshots());
    outcome.test = score(data_, data_.splits.test, probability);
    if (reporting.metrics) append_scores(*reporting.metrics, iteration_, "test", outcome.test);
  }
  const auto timed = phase(reporting, "gate");
  outcome.gate = judge(held_out(data_, data_.splits.test, probability), gate_options(profile_));
}

void Trainer::check_time_budget(const Reporting& reporting) const {
  if (!profile_.smoketest.enabled || !reporting.phases) return;
  if (reporting.phases->elapsed() > profile_.smoketest.budget_seconds)
    throw Error(ExitCode::time_budget,
                fmt::format("smoketest: {:.1f} s passed at iteration {}, smoketest.budget_seconds is {:.0f}; shorten "
                            "training.epochs, use a faster device or raise the budget",
                            reporting.phases->elapsed(), iteration_, profile_.smoketest.budget_seconds));
}

}  // namespace foxhunt::alpha
