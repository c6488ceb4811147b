#include "core/alpha/trainer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/alpha/resume.h"
#include "core/profile/printer.h"

namespace foxhunt::alpha {
namespace {

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
      loop_(device, model_, guard_, profile, profile.alpha.steps_per_epoch,
            profile.alpha.metric == "loss" ? "-loss" : "auc") {
  model_.plan(arena_);
  dataset_.plan(arena_);
  guard_.plan(arena_);
  validation_.plan(arena_);
  test_.plan(arena_);
}

void Trainer::initialise(bool goes_on) {
  arena_.commit(memory_limit());
  dataset_.upload();
  model_.initialise(dataset_.snapshots());
  if (!goes_on) load_initial_checkpoint();
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

TrainingState Trainer::state() const {
  TrainingState s;
  loop_.write(s);
  s.losses = losses_;
  s.initial_parameters = initial_parameters_;
  s.best = best_;
  s.best_scores = best_scores_;
  s.seen = description_.seen;
  return s;
}

void Trainer::restore(const TrainingState& s) {
  model_.restore(s.persistent);
  loop_.restore(s);
  losses_ = s.losses;
  initial_parameters_ = s.initial_parameters;
  best_ = s.best;
  best_scores_ = s.best_scores;
  description_.seen = s.seen;
}

Outcome Trainer::run(const Reporting& reporting) {
  if (reporting.directory) {
    guard_.set_dump_folder(reporting.directory->path());
    open_checkpoints(reporting);
    if (best_)  // the file may be that of a later one, which is to be found again
      save_best({loop_.best_epoch(), loop_.best_iteration()});
  }
  Outcome outcome;
  outcome.metric = loop_.metric();
  outcome.reason = loop_.run(
      reporting, {[&] { report(reporting, false); }, [&] { validate(reporting); }, [&] { save_epoch(reporting); }});
  outcome.training_seconds = loop_.training_seconds();
  conclude(reporting, outcome);
  return outcome;
}

void Trainer::open_checkpoints(const Reporting& reporting) {
  std::map<std::string, std::string> metadata = run::fingerprint_metadata(fingerprint(data_));
  metadata["profile"] = profile_.name;
  metadata["profile_toml"] = profile::to_toml(profile_);
  checkpoints_.emplace(reporting.directory->checkpoints(), profile_.checkpoint.keep,
                       reporting.metrics ? reporting.metrics->files() : std::vector<std::filesystem::path>{},
                       std::move(metadata));
}

void Trainer::report(const Reporting& reporting, bool last) {
  const auto timed = reporting.phase("log");
  const Health health = model_.health();
  const auto isv = [&](IsvSlot slot) { return health.isv[static_cast<std::size_t>(slot)]; };
  if (!last) losses_.push_back(isv(isv_loss));
  if (reporting.metrics && !last && iteration() % profile_.run.log_every == 0) {
    const run::Metric row[] = {{"loss", static_cast<double>(isv(isv_loss))},
                               {"learning_rate", static_cast<double>(isv(isv_learning_rate))},
                               {"gradient_norm", static_cast<double>(isv(isv_gradient_norm))},
                               {"nonfinite_count", static_cast<double>(isv(isv_nonfinite_count))},
                               {"updates", static_cast<double>(health.counters[counter_updates])},
                               {"guard_trips", static_cast<double>(health.counters[counter_trips])}};
    reporting.metrics->append(iteration(), row);
  }
  if (!reporting.progress || !(last || reporting.progress->due())) return;
  const double rows_a_step = static_cast<double>(profile_.alpha.windows * profile_.alpha.steps);
  const run::ProgressField fields[] = {
      {"guard", guard_.trips() > 0 ? fmt::format("{} trips", guard_.trips()) : "ok"},
      {"loss", fmt::format("{:.4f}", isv(isv_loss))},
      {"gradient", fmt::format("{:.3g}", isv(isv_gradient_norm))},
      {"snapshots", run::rate_text(reporting.progress->rate(iteration() - loop_.first_iteration()) * rows_a_step)},
      {"memory", fmt::format("{:.1f} MiB", static_cast<double>(memory_bytes()) / (1 << 20))}};
  last ? reporting.progress->finish(iteration(), fields) : reporting.progress->update(iteration(), fields);
}

void Trainer::validate(const Reporting& reporting) {
  const auto timed = reporting.phase("validate");
  const Scores scores =
      score(data_, data_.splits.validation, validation_.run(model_.parameters(), dataset_.snapshots()));
  if (reporting.metrics) append_scores(*reporting.metrics, iteration(), "validation", scores);
  spdlog::debug("epoch {}: validation loss {:.5f}, mean AUC {:.4f}", loop_.epoch(), scores.loss, scores.mean_auc);
  if (!loop_.judge(profile_.alpha.metric == "loss" ? -scores.loss : scores.mean_auc)) return;
  best_ = device_.download(model_.learner_block());
  best_scores_ = scores;
  if (checkpoints_) save_best({loop_.epoch(), iteration()});
}

void Trainer::save_best(run::CheckpointFolder::Trained at) {
  checkpoints_->save_best(at, [this, best = *best_](const std::filesystem::path& file, auto metadata) {
    save_model(file, model_, best, description_, std::move(metadata));
  });
}

void Trainer::save_epoch(const Reporting& reporting) {
  if (!checkpoints_) return;
  const auto timed = reporting.phase("save");
  checkpoints_->save_epoch({loop_.epoch(), iteration()}, training_writer());
}

run::CheckpointFolder::Write Trainer::training_writer() const {
  return [this, state = state()](const std::filesystem::path& file, auto metadata) {
    save_training(file, model_, description_, state, std::move(metadata));
  };
}

void Trainer::conclude(const Reporting& reporting, Outcome& outcome) {
  report(reporting, true);
  const std::vector<float> last = device_.download(model_.learner_block());
  if (checkpoints_) {
    const auto timed = reporting.phase("save");
    checkpoints_->save_last({loop_.epoch(), iteration()}, training_writer());
    checkpoints_->wait();
  }
  outcome.iterations = iteration();
  outcome.updates = model_.health().counters[counter_updates];
  outcome.epochs = loop_.epoch();
  outcome.fingerprint = run::fingerprint(device_.download(model_.parameters()));
  const bool stopped = loop_.stop_asked();
  if (!stopped) {
    if (reporting.metrics) reporting.metrics->start_conclusion();
    if (loop_.best_epoch() < 0) validate(reporting);
  }
  outcome.best_epoch = loop_.best_epoch();
  outcome.best_metric = loop_.best_metric();
  outcome.validation = best_scores_;
  if (stopped) {
    outcome.reason = "interrupted by a signal";
    return;
  }
  if (best_) device_.upload(model_.learner_block(), *best_);
  judge_best(reporting, outcome);
  device_.upload(model_.learner_block(), last);
  if (checkpoints_) checkpoints_->wait();
}

void Trainer::judge_best(const Reporting& reporting, Outcome& outcome) {
  std::vector<float> probability;
  {
    const auto timed = reporting.phase("test");
    probability = test_.run(model_.parameters(), dataset_.snapshots());
    outcome.test = score(data_, data_.splits.test, probability);
    if (reporting.metrics) append_scores(*reporting.metrics, iteration(), "test", outcome.test);
  }
  const auto timed = reporting.phase("gate");
  outcome.gate = judge(held_out(data_, data_.splits.test, probability), gate_options(profile_));
}

}  // namespace foxhunt::alpha
