#include "core/dqn/trainer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>

#include "core/dqn/model_card.h"
#include "core/run/interrupt.h"

namespace foxhunt::dqn {
namespace {

run::PhaseTimer::Scope phase(const Trainer::Reporting& reporting, std::string_view name) {
  static run::PhaseTimer unwatched;
  return reporting.phases ? reporting.phases->scope(name) : unwatched.scope(name);
}

/// A line of validation.jsonl: what a sweep prunes by while the run goes on.
void append_validation(run::MetricsLog& log, std::int64_t iteration, std::int64_t epoch, double metric,
                       const Performance& p) {
  log.append(iteration, {{"epoch", static_cast<double>(epoch)},
                         {"metric", metric},
                         {"net_pnl", p.net},
                         {"gross_pnl", p.gross},
                         {"costs", p.costs},
                         {"sharpe", p.sharpe},
                         {"sortino", p.sortino},
                         {"max_drawdown", p.max_drawdown},
                         {"trades", static_cast<double>(p.trades)},
                         {"action_entropy", p.action_entropy}});
}

}  // namespace

Trainer::Trainer(Device& device, const profile::Profile& profile, const LoadedMarket& market)
    : device_(device),
      profile_(profile),
      market_(market),
      config_(make_config(profile, market.tables)),
      account_{market.tape,
               market.tables,
               config_.positions,
               profile.environment.max_contracts,
               profile.environment.starting_capital,
               periods_per_year(market.tape)},
      agent_(device, config_),
      validation_(device, agent_, market.tables.validation),
      test_(device, agent_, market.tables.test),
      guard_(device, agent_, profile.guards),
      arena_(device),
      early_stopping_(profile.early_stopping.patience, profile.early_stopping.min_delta) {
  agent_.plan(arena_, market.tables.train_starts.size());
  guard_.plan(arena_);
  device_market_.plan(arena_, market.tables);
  validation_.plan(arena_);
  test_.plan(arena_);
}

std::size_t Trainer::memory_limit() const { return static_cast<std::size_t>(profile_.device.memory_limit) << 20; }

void Trainer::initialise() {
  arena_.commit(memory_limit());
  device_market_.upload(device_, market_.tables);
  agent_.initialise(device_market_, market_.tables.train_starts);
  validation_.initialise(device_market_);
  test_.initialise(device_market_);
  initial_parameters_ = device_.download(agent_.learner().parameters());
  guard_.keep_good_state(agent_.health());
}

void Trainer::advance(std::int64_t count) {
  // Two batches in flight: the host looks at the health of one while the device works on the next.
  const std::int64_t batch = std::max<std::int64_t>(1, profile_.training.iterations_in_flight / 2);
  guard_.keep_diagnosis_start(agent_.health());
  std::deque<std::unique_ptr<Fence>> queued;
  for (std::int64_t done = 0; done < count; done += batch) {
    agent_.iterate(static_cast<int>(std::min(batch, count - done)));
    queued.push_back(device_.fence());
    if (queued.size() < 2) continue;
    queued.front()->wait();
    queued.pop_front();
    guard_.check(agent_.health());
  }
  device_.synchronize();
  guard_.check(agent_.health());
  guard_.keep_good_state(agent_.health());
  iteration_ += count;
}

Outcome Trainer::run(const Reporting& reporting) {
  Outcome outcome;
  if (reporting.directory) guard_.set_dump_folder(reporting.directory->path());
  const auto start = std::chrono::steady_clock::now();
  outcome.reason = "all epochs done";
  while (epoch_ < profile_.training.epochs) {
    train_epoch(reporting);
    ++epoch_;
    const std::int64_t validate_every = profile_.evaluation.every_epochs, save_every = profile_.checkpoint.every_epochs;
    if (validate_every > 0 && epoch_ % validate_every == 0 && validate(reporting, outcome)) break;
    if (save_every > 0 && epoch_ % save_every == 0)
      save(reporting, fmt::format("epoch-{:06}", epoch_), download_learner(device_, agent_), epoch_);
    if (run::pending_signal() != 0) {
      outcome.reason = "interrupted by a signal";
      break;
    }
  }
  outcome.training_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  conclude(reporting, outcome);
  return outcome;
}

void Trainer::train_epoch(const Reporting& reporting) {
  std::int64_t left = profile_.training.gpu_timesteps_per_episode;
  while (left > 0 && run::pending_signal() == 0) {
    const std::int64_t to_log = profile_.run.log_every - iteration_ % profile_.run.log_every;
    const std::int64_t count = std::min(left, to_log);
    {
      const auto timed = phase(reporting, "train");
      advance(count);
    }
    left -= count;
    report(reporting, agent_.health(), false);
    check_time_budget(reporting);
  }
}

void Trainer::report(const Reporting& reporting, const Health& health, bool last) {
  if (!last && health.counters[counter_learning]) {
    ++losses_seen_;
    nonfinite_losses_ += !std::isfinite(health.isv[isv_loss]);
  }
  if (reporting.metrics && !last && iteration_ % profile_.run.log_every == 0) {
    std::vector<run::Metric> metrics;
    for (int i = 1; i < isv_slot_count; ++i)
      metrics.push_back(
          {IsvBus::name(static_cast<IsvSlot>(i)), static_cast<double>(health.isv[static_cast<std::size_t>(i)])});
    metrics.push_back({"updates", static_cast<double>(health.counters[counter_updates])});
    metrics.push_back({"guard_trips", static_cast<double>(health.counters[counter_trips])});
    reporting.metrics->append(iteration_, metrics);
  }
  if (!reporting.progress || !(last || reporting.progress->due())) return;
  const run::ProgressField fields[] = {{"loss", fmt::format("{:.4f}", health.isv[isv_loss])},
                                       {"reward", fmt::format("{:+.4f}", health.isv[isv_reward_mean])},
                                       {"epsilon", fmt::format("{:.3f}", health.isv[isv_epsilon])},
                                       {"entropy", fmt::format("{:.2f}", health.isv[isv_action_entropy])},
                                       {"guard", guard_.trips() == 0 ? "ok" : fmt::format("{} trips", guard_.trips())}};
  if (last) {
    reporting.progress->finish(iteration_, fields);
  } else {
    reporting.progress->update(iteration_, fields);
  }
}

double Trainer::metric_of(const Performance& p) const {
  // Gains without a loss have an infinite ratio, which would read as a number gone wrong.
  const auto finite = [](double ratio) { return std::clamp(ratio, -1e9, 1e9); };
  if (profile_.early_stopping.metric == "sharpe") return finite(p.sharpe);
  if (profile_.early_stopping.metric == "sortino") return finite(p.sortino);
  if (profile_.early_stopping.metric == "mean_reward")
    return p.mean_step / static_cast<double>(config_.environment.reward_scale);
  return p.net;
}

bool Trainer::validate(const Reporting& reporting, Outcome& outcome) {
  const auto timed = phase(reporting, "validate");
  outcome.validation = measure(validation_.run(), account_);
  const double metric =
      validation_.nonfinite() > 0 ? std::numeric_limits<double>::quiet_NaN() : metric_of(outcome.validation);
  spdlog::debug("epoch {}: validation {} {:.4f}, net ${:.2f}, {} trades", epoch_, profile_.early_stopping.metric,
                metric, outcome.validation.net, outcome.validation.trades);
  if (reporting.validations) append_validation(*reporting.validations, iteration_, epoch_, metric, outcome.validation);
  const auto decision = early_stopping_.update(metric);
  if (decision == run::EarlyStopping::Decision::improved) {
    best_ = download_learner(device_, agent_);
    outcome.best_epoch = epoch_;
    outcome.best_metric = metric;
    save(reporting, "best", *best_, epoch_);
  }
  if (decision != run::EarlyStopping::Decision::stop || !profile_.early_stopping.enabled) return false;
  outcome.reason = "early stopping: " + early_stopping_.reason_text();
  return true;
}

void Trainer::save(const Reporting& reporting, const std::string& name, const LearnerState& state, std::int64_t epoch) {
  if (!reporting.directory) return;
  const auto timed = phase(reporting, "save");
  auto metadata = model_metadata(model_card(profile_, config_, market_), profile_);
  metadata.insert(
      {{"profile", profile_.name}, {"epoch", std::to_string(epoch)}, {"iteration", std::to_string(iteration_)}});
  save_checkpoint(reporting.directory->checkpoints() / (name + ".safetensors"), agent_, state, std::move(metadata));
  remove_old_checkpoints(reporting);
}

void Trainer::remove_old_checkpoints(const Reporting& reporting) const {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(reporting.directory->checkpoints()))
    if (entry.path().filename().string().starts_with("epoch-") && entry.path().extension() == ".safetensors")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const auto keep = static_cast<std::size_t>(profile_.checkpoint.keep);
  for (std::size_t i = 0; i + keep < files.size(); ++i) std::filesystem::remove(files[i]);
}

void Trainer::conclude(const Reporting& reporting, Outcome& outcome) {
  report(reporting, agent_.health(), true);
  const LearnerState last = download_learner(device_, agent_);
  save(reporting, "last", last, epoch_);
  const Health health = agent_.health();
  outcome.iterations = iteration_;
  outcome.updates = health.counters[counter_updates];
  outcome.epochs = epoch_;
  outcome.fingerprint = fingerprint(last);
  if (outcome.best_epoch < 0 && run::pending_signal() == 0) validate(reporting, outcome);
  if (run::pending_signal() != 0) return;
  {
    const auto timed = phase(reporting, "baselines");
    outcome.baselines = run_baselines();
  }
  const auto timed = phase(reporting, "test");
  if (best_) upload_learner(device_, agent_, *best_);
  outcome.validation = measure(validation_.run(), account_);
  outcome.test = measure(test_.run(), account_);
  upload_learner(device_, agent_, last);
}

std::vector<BaselineResult> Trainer::run_baselines() {
  std::vector<BaselineResult> results;
  for (const Baseline& baseline :
       baselines(market_.tape, config_.positions, profile_.evaluation.momentum_rows, config_.seed))
    results.push_back({baseline.name, measure(test_.run(baseline.policy), account_)});
  return results;
}

void Trainer::check_time_budget(const Reporting& reporting) const {
  if (!profile_.smoketest.enabled || !reporting.phases) return;
  if (reporting.phases->elapsed() > profile_.smoketest.budget_seconds)
    throw Error(ExitCode::time_budget,
                fmt::format("smoketest: {:.1f} s passed at iteration {}, smoketest.budget_seconds is {:.0f}; shorten "
                            "training.epochs, use a faster device or raise the budget",
                            reporting.phases->elapsed(), iteration_, profile_.smoketest.budget_seconds));
}

}  // namespace foxhunt::dqn
