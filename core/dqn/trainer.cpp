#include "core/dqn/trainer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>

#include "core/dqn/market_fingerprint.h"
#include "core/dqn/model_card.h"
#include "core/run/interrupt.h"

namespace foxhunt::dqn {
namespace {

run::PhaseTimer::Scope phase(const Trainer::Reporting& reporting, std::string_view name) {
  static run::PhaseTimer unwatched;
  return reporting.phases ? reporting.phases->scope(name) : unwatched.scope(name);
}

std::vector<run::Metric> result_metrics(const Performance& p) {
  return {{"net_pnl", p.net},
          {"gross_pnl", p.gross},
          {"costs", p.costs},
          {"sharpe", p.sharpe},
          {"sortino", p.sortino},
          {"max_drawdown", p.max_drawdown},
          {"trades", static_cast<double>(p.trades)},
          {"exposure", p.exposure},
          {"action_entropy", p.action_entropy}};
}

/// What TensorBoard shows of a policy on a split.
void append_result(run::MetricsRecord& metrics, std::int64_t iteration, const std::string& split, const Performance& p,
                   std::span<const SessionRecord> sessions) {
  metrics.append_result(iteration, split, result_metrics(p));
  std::vector<double> gains;
  for (const SessionRecord& session : sessions) gains.insert(gains.end(), session.net.begin(), session.net.end());
  metrics.append_histogram(iteration, split + "/step_net", gains);
}

/// A line of validation.jsonl: what a sweep prunes by while the run goes on.
void append_validation(run::MetricsRecord& metrics, std::int64_t iteration, std::int64_t epoch, double metric,
                       const Performance& p) {
  std::vector<run::Metric> line = result_metrics(p);
  line.insert(line.begin(), {{"epoch", static_cast<double>(epoch)}, {"metric", metric}});
  metrics.append_validation(iteration, line);
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
      early_stopping_(
          profile.early_stopping.enabled ? profile.early_stopping.patience : std::numeric_limits<std::int64_t>::max(),
          profile.early_stopping.min_delta) {
  for (const float position : config_.positions) action_names_.push_back(fmt::format("action_share_{:+}", position));
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

std::size_t Trainer::checkpoint_bytes() const {
  // The parameters come a second time, layer by layer.
  const std::size_t learner = agent_.learner().block_floats() * sizeof(float);
  return agent_.persistent_bytes() + agent_.learner().parameters().bytes() + learner +
         (profile_.guards.policy == "rollback" ? learner : 0);
}

double Trainer::training_seconds() const {
  return seconds_before_ + std::chrono::duration<double>(run::PhaseTimer::Clock::now() - started_).count();
}

TrainingState Trainer::state() const {
  TrainingState s;
  s.iteration = iteration_;
  s.epoch = epoch_;
  s.losses_seen = losses_seen_;
  s.nonfinite_losses = nonfinite_losses_;
  s.best_epoch = best_epoch_;
  s.best_metric = best_metric_;
  s.training_seconds = training_seconds();
  s.early_stopping = early_stopping_.state();
  s.best = best_;
  s.guard = guard_.state();
  s.persistent = device_.download(agent_.persistent());
  return s;
}

void Trainer::restore(const TrainingState& s) {
  agent_.restore(s.persistent);
  // What the profile and the market say of them holds, not what they were.
  agent_.ring().upload(device_, market_.tables.train_starts, config_.positions);
  iteration_ = s.iteration;
  epoch_ = s.epoch;
  losses_seen_ = s.losses_seen;
  nonfinite_losses_ = s.nonfinite_losses;
  best_epoch_ = s.best_epoch;
  best_metric_ = s.best_metric;
  seconds_before_ = s.training_seconds;
  early_stopping_.restore(s.early_stopping);
  best_ = s.best;
  guard_.restore(s.guard);
}

bool Trainer::stop_asked(std::int64_t iteration) const {
  return stop_asked_ ? stop_asked_(iteration) : run::pending_signal() != 0;
}

bool Trainer::advance(std::int64_t count) {
  // Two batches in flight: the host looks at the health of one while the device works on the next. Batches and looks
  // fall on the same iterations whether or not the run was stopped in between and taken up again.
  const std::int64_t batch = std::max<std::int64_t>(1, profile_.training.iterations_in_flight / 2);
  guard_.keep_diagnosis_start(agent_.health());
  std::deque<std::unique_ptr<Fence>> queued;
  std::int64_t done = 0;
  while (done < count) {
    if (done > 0) {
      if (queued.size() == 2) {
        queued.front()->wait();
        queued.pop_front();
      }
      guard_.check(agent_.health());
      if (stop_asked(iteration_ + done)) break;
    }
    const std::int64_t some = std::min(batch, count - done);
    agent_.iterate(static_cast<int>(some));
    queued.push_back(device_.fence());
    done += some;
  }
  device_.synchronize();
  guard_.check(agent_.health());
  iteration_ += done;
  if (done < count) return false;
  guard_.keep_good_state(agent_.health());
  return true;
}

Outcome Trainer::run(const Reporting& reporting) {
  stop_asked_ = reporting.stop_asked;
  if (reporting.directory) {
    guard_.set_dump_folder(reporting.directory->path());
    open_checkpoints(reporting);
    if (best_)  // the file may be that of a later one, which is to be found again
      checkpoints_->save_best(agent_, *best_, best_epoch_, best_epoch_ * profile_.training.gpu_timesteps_per_episode);
  }
  started_ = run::PhaseTimer::Clock::now();
  first_iteration_ = iteration_;
  first_updates_ = agent_.health().counters[counter_updates];
  Outcome outcome;
  outcome.reason = train(reporting);
  outcome.training_seconds = training_seconds();
  conclude(reporting, outcome);
  return outcome;
}

void Trainer::open_checkpoints(const Reporting& reporting) {
  const MarketFingerprint market = fingerprint(market_.tables);
  std::map<std::string, std::string> metadata = model_metadata(model_card(profile_, config_, market_), profile_);
  metadata["profile"] = profile_.name;
  metadata["market_rows"] = fmt::format("{:016x}", market.rows);
  metadata["market_values"] = fmt::format("{:016x}", market.values);
  checkpoints_.emplace(reporting.directory->checkpoints(), profile_.checkpoint.keep,
                       reporting.metrics ? reporting.metrics->files() : std::vector<std::filesystem::path>{},
                       std::move(metadata));
}

std::string Trainer::train(const Reporting& reporting) {
  const std::int64_t validate_every = profile_.evaluation.every_epochs, save_every = profile_.checkpoint.every_epochs;
  while (epoch_ < profile_.training.epochs && !stopped_early()) {
    if (!train_epoch(reporting)) return "interrupted by a signal";
    ++epoch_;
    if (validate_every > 0 && epoch_ % validate_every == 0) validate(reporting);
    if (checkpoints_ && save_every > 0 && epoch_ % save_every == 0 && !stopped_early()) {
      const auto timed = phase(reporting, "save");
      checkpoints_->save_epoch(agent_, state());
    }
    if (stop_asked(iteration_)) return "interrupted by a signal";
  }
  return stopped_early() ? "early stopping: " + early_stopping_.reason_text() : "all epochs done";
}

bool Trainer::train_epoch(const Reporting& reporting) {
  const std::int64_t end = (epoch_ + 1) * profile_.training.gpu_timesteps_per_episode;
  while (iteration_ < end) {
    if (stop_asked(iteration_)) return false;
    const std::int64_t to_log = profile_.run.log_every - iteration_ % profile_.run.log_every;
    const std::int64_t count = std::min(end - iteration_, to_log);
    {
      const auto timed = phase(reporting, "train");
      if (!advance(count)) return false;
    }
    report(reporting, agent_.health(), false);
    check_time_budget(reporting);
  }
  return true;
}

void Trainer::report(const Reporting& reporting, const Health& health, bool last) {
  if (!last && health.counters[counter_learning]) {
    ++losses_seen_;
    nonfinite_losses_ += !std::isfinite(health.isv[isv_loss]);
  }
  const auto timed = phase(reporting, "log");
  if (reporting.metrics && !last && iteration_ % profile_.run.log_every == 0)
    append_metrics(*reporting.metrics, health);
  if (!reporting.progress || !(last || reporting.progress->due())) return;
  const std::vector<run::ProgressField> fields = progress_fields(*reporting.progress, health);
  last ? reporting.progress->finish(iteration_, fields) : reporting.progress->update(iteration_, fields);
}

void Trainer::append_metrics(run::MetricsRecord& metrics, const Health& health) const {
  std::vector<run::Metric> row;
  for (int i = 1; i < isv_slot_count; ++i)
    row.push_back(
        {IsvBus::name(static_cast<IsvSlot>(i)), static_cast<double>(health.isv[static_cast<std::size_t>(i)])});
  row.push_back({"updates", static_cast<double>(health.counters[counter_updates])});
  row.push_back({"guard_trips", static_cast<double>(health.counters[counter_trips])});
  for (std::size_t a = 0; a < action_names_.size(); ++a)
    row.push_back(
        {action_names_[a], static_cast<double>(health.counters[counter_first_action + a]) / config_.episodes});
  metrics.append(iteration_, row);
}

std::vector<run::ProgressField> Trainer::progress_fields(const run::Progress& progress, const Health& health) const {
  const auto isv = [&](IsvSlot slot) { return health.isv[static_cast<std::size_t>(slot)]; };
  const std::int64_t updates = health.counters[counter_updates] - first_updates_;
  std::vector<run::ProgressField> fields = {
      {"loss", fmt::format("{:.4f}", isv(isv_loss))},
      {"reward", fmt::format("{:+.4f}", isv(isv_reward_mean))},
      {"epsilon", fmt::format("{:.3f}", isv(isv_epsilon))},
      {"steps", run::rate_text(progress.rate((iteration_ - first_iteration_) * config_.episodes))},
      {"updates", run::rate_text(progress.rate(updates))},
      {"memory", fmt::format("{:.1f} MiB", static_cast<double>(memory_bytes()) / (1 << 20))},
      {"entropy", fmt::format("{:.2f}", isv(isv_action_entropy))}};
  // What is wrong comes first, where no narrow terminal cuts it off.
  if (guard_.trips() > 0)
    fields.insert(fields.begin(), {"guard", fmt::format("{} trips", guard_.trips())});
  else
    fields.insert(fields.begin() + 3, {"guard", "ok"});
  return fields;
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

void Trainer::validate(const Reporting& reporting) {
  const auto timed = phase(reporting, "validate");
  const std::vector<SessionRecord> sessions = validation_.run();
  validated_ = measure(sessions, account_);
  const double metric = validation_.nonfinite() > 0 ? std::numeric_limits<double>::quiet_NaN() : metric_of(validated_);
  if (reporting.metrics) {
    append_result(*reporting.metrics, iteration_, "validation", validated_, sessions);
    append_validation(*reporting.metrics, iteration_, epoch_, metric, validated_);
  }
  spdlog::debug("epoch {}: validation {} {:.4f}, net ${:.2f}, {} trades", epoch_, profile_.early_stopping.metric,
                metric, validated_.net, validated_.trades);
  if (early_stopping_.update(metric) != run::EarlyStopping::Decision::improved) return;
  best_ = download_learner(device_, agent_);
  best_epoch_ = epoch_;
  best_metric_ = metric;
  if (checkpoints_) checkpoints_->save_best(agent_, *best_, epoch_, iteration_);
}

void Trainer::conclude(const Reporting& reporting, Outcome& outcome) {
  report(reporting, agent_.health(), true);
  const LearnerState last = download_learner(device_, agent_);
  if (checkpoints_) {
    const auto timed = phase(reporting, "save");
    checkpoints_->save_last(agent_, state());
    checkpoints_->wait();
  }
  const Health health = agent_.health();
  outcome.iterations = iteration_;
  outcome.updates = health.counters[counter_updates];
  outcome.epochs = epoch_;
  outcome.fingerprint = fingerprint(last);
  const bool stopped = stop_asked(iteration_);
  if (!stopped) {
    if (reporting.metrics) reporting.metrics->start_conclusion();
    if (best_epoch_ < 0) validate(reporting);
  }
  outcome.best_epoch = best_epoch_;
  outcome.best_metric = best_metric_;
  outcome.validation = validated_;
  if (stopped) {
    outcome.reason = "interrupted by a signal";
    return;
  }
  EvaluationRecord record(account_, market_.tables.test);
  {
    const auto timed = phase(reporting, "baselines");
    outcome.baselines = run_baselines(record);
  }
  const auto timed = phase(reporting, "test");
  if (best_) upload_learner(device_, agent_, *best_);
  outcome.validation = measure(validation_.run(), account_);
  outcome.test = test_agent(reporting, record);
  outcome.evaluation = record.json();
  upload_learner(device_, agent_, last);
  if (checkpoints_) checkpoints_->wait();
}

Performance Trainer::test_agent(const Reporting& reporting, EvaluationRecord& record) {
  const std::vector<SessionRecord> sessions = test_.run();
  const Performance performance = measure(sessions, account_);
  record.add_agent(sessions);
  const StateValues values = test_.values_at_start();
  record.add_values(values, config_);
  if (reporting.metrics) {
    append_result(*reporting.metrics, iteration_, "test", performance, sessions);
    reporting.metrics->append_histogram(iteration_, "test/q_at_session_start",
                                        std::vector<double>(values.q.begin(), values.q.end()));
  }
  return performance;
}

std::vector<BaselineResult> Trainer::run_baselines(EvaluationRecord& record) {
  std::vector<BaselineResult> results;
  for (const Baseline& baseline :
       baselines(market_.tape, config_.positions, profile_.evaluation.momentum_rows, config_.seed)) {
    const std::vector<SessionRecord> sessions = test_.run(baseline.policy);
    record.add_policy(baseline.name, sessions);
    results.push_back({baseline.name, measure(sessions, account_)});
  }
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
