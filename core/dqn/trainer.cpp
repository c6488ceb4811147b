#include "core/dqn/trainer.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dqn/market_fingerprint.h"
#include "core/dqn/model_card.h"
#include "core/run/resume.h"

namespace foxhunt::dqn {
namespace {

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
      loop_(device, agent_, guard_, profile, profile.training.gpu_timesteps_per_episode,
            profile.early_stopping.metric) {
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

TrainingState Trainer::state() const {
  TrainingState s;
  loop_.write(s);
  s.losses_seen = losses_seen_;
  s.nonfinite_losses = nonfinite_losses_;
  s.best = best_;
  return s;
}

void Trainer::restore(const TrainingState& s) {
  agent_.restore(s.persistent);
  // What the profile and the market say of them holds, not what they were.
  agent_.ring().upload(device_, market_.tables.train_starts, config_.positions);
  loop_.restore(s);
  losses_seen_ = s.losses_seen;
  nonfinite_losses_ = s.nonfinite_losses;
  best_ = s.best;
}

Outcome Trainer::run(const Reporting& reporting) {
  if (reporting.directory) {
    guard_.set_dump_folder(reporting.directory->path());
    open_checkpoints(reporting);
    if (best_)  // the file may be that of a later one, which is to be found again
      checkpoints_->save_best({loop_.best_epoch(), loop_.best_iteration()}, learner_writer(agent_, *best_));
  }
  first_updates_ = agent_.health().counters[counter_updates];
  Outcome outcome;
  outcome.reason = loop_.run(reporting, {[&] { report(reporting, agent_.health(), false); },
                                         [&] { validate(reporting); }, [&] { save_epoch(reporting); }});
  outcome.training_seconds = loop_.training_seconds();
  conclude(reporting, outcome);
  return outcome;
}

void Trainer::open_checkpoints(const Reporting& reporting) {
  std::map<std::string, std::string> metadata = model_metadata(model_card(profile_, config_, market_), profile_);
  metadata["profile"] = profile_.name;
  metadata.merge(run::fingerprint_metadata(fingerprint(market_.tables)));
  checkpoints_.emplace(reporting.directory->checkpoints(), profile_.checkpoint.keep,
                       reporting.metrics ? reporting.metrics->files() : std::vector<std::filesystem::path>{},
                       std::move(metadata));
}

void Trainer::save_epoch(const Reporting& reporting) {
  if (!checkpoints_) return;
  const auto timed = reporting.phase("save");
  checkpoints_->save_epoch({loop_.epoch(), iteration()}, training_writer(agent_, state()));
}

void Trainer::report(const Reporting& reporting, const Health& health, bool last) {
  if (!last && health.counters[counter_learning]) {
    ++losses_seen_;
    nonfinite_losses_ += !std::isfinite(health.isv[isv_loss]);
  }
  const auto timed = reporting.phase("log");
  if (reporting.metrics && !last && iteration() % profile_.run.log_every == 0)
    append_metrics(*reporting.metrics, health);
  if (!reporting.progress || !(last || reporting.progress->due())) return;
  const std::vector<run::ProgressField> fields = progress_fields(*reporting.progress, health);
  last ? reporting.progress->finish(iteration(), fields) : reporting.progress->update(iteration(), fields);
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
  metrics.append(iteration(), row);
}

std::vector<run::ProgressField> Trainer::progress_fields(const run::Progress& progress, const Health& health) const {
  const auto isv = [&](IsvSlot slot) { return health.isv[static_cast<std::size_t>(slot)]; };
  const std::int64_t updates = health.counters[counter_updates] - first_updates_;
  std::vector<run::ProgressField> fields = {
      {"loss", fmt::format("{:.4f}", isv(isv_loss))},
      {"reward", fmt::format("{:+.4f}", isv(isv_reward_mean))},
      {"epsilon", fmt::format("{:.3f}", isv(isv_epsilon))},
      {"steps", run::rate_text(progress.rate((iteration() - loop_.first_iteration()) * config_.episodes))},
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
  const auto timed = reporting.phase("validate");
  const std::vector<SessionRecord> sessions = validation_.run();
  validated_ = measure(sessions, account_);
  const double metric = validation_.nonfinite() > 0 ? std::numeric_limits<double>::quiet_NaN() : metric_of(validated_);
  if (reporting.metrics) {
    append_result(*reporting.metrics, iteration(), "validation", validated_, sessions);
    append_validation(*reporting.metrics, iteration(), loop_.epoch(), metric, validated_);
  }
  spdlog::debug("epoch {}: validation {} {:.4f}, net ${:.2f}, {} trades", loop_.epoch(), profile_.early_stopping.metric,
                metric, validated_.net, validated_.trades);
  if (!loop_.judge(metric)) return;
  best_ = download_learner(device_, agent_);
  if (checkpoints_) checkpoints_->save_best({loop_.epoch(), iteration()}, learner_writer(agent_, *best_));
}

void Trainer::conclude(const Reporting& reporting, Outcome& outcome) {
  report(reporting, agent_.health(), true);
  const LearnerState last = download_learner(device_, agent_);
  if (checkpoints_) {
    const auto timed = reporting.phase("save");
    checkpoints_->save_last({loop_.epoch(), iteration()}, training_writer(agent_, state()));
    checkpoints_->wait();
  }
  const Health health = agent_.health();
  outcome.iterations = iteration();
  outcome.updates = health.counters[counter_updates];
  outcome.epochs = loop_.epoch();
  outcome.fingerprint = fingerprint(last);
  const bool stopped = loop_.stop_asked();
  if (!stopped) {
    if (reporting.metrics) reporting.metrics->start_conclusion();
    if (loop_.best_epoch() < 0) validate(reporting);
  }
  outcome.best_epoch = loop_.best_epoch();
  outcome.best_metric = loop_.best_metric();
  outcome.validation = validated_;
  if (stopped) {
    outcome.reason = "interrupted by a signal";
    return;
  }
  EvaluationRecord record(account_, market_.tables.test);
  {
    const auto timed = reporting.phase("baselines");
    outcome.baselines = run_baselines(record);
  }
  const auto timed = reporting.phase("test");
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
    append_result(*reporting.metrics, iteration(), "test", performance, sessions);
    reporting.metrics->append_histogram(iteration(), "test/q_at_session_start",
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

}  // namespace foxhunt::dqn
