#include "core/dqn/training_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <iostream>

#include "core/dqn/smoketest.h"
#include "core/dqn/summary.h"
#include "core/profile/loader.h"
#include "core/run/interrupt.h"
#include "core/run/log.h"
#include "core/run/market_input.h"
#include "core/run/report.h"

namespace foxhunt::dqn {

namespace {

ExitCode exit_code_of(const profile::Profile& profile, const run::CheckList& checks, ExitCode signal) {
  if (signal != ExitCode::ok) return signal;
  return profile.smoketest.enabled && !checks.all_passed() ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace

ExitCode run_training(const profile::Profile& given, const TrainingRunOptions& options) {
  profile::Profile profile = given;
  profile::draw_seed(profile);
  run::PhaseTimer phases;
  run::start_console_log(options.quiet ? "warn" : profile.run.log_level);
  run::install_signal_handlers();
  std::unique_ptr<Device> device;
  {
    const auto timed = phases.scope("open device");
    device = open_device(profile.device.device, run::device_options(profile));
  }
  const nlohmann::ordered_json more = [&] {
    const auto timed = phases.scope("sum data");
    return run::surroundings(*device, run::data_report(run::market_source(profile)));
  }();
  if (options.repeats) run::require_same_data(*options.repeats, more["data"]);
  const LoadedMarket market = [&] {
    const auto timed = phases.scope("load data");
    return load_market(profile);
  }();
  Trainer trainer(*device, profile, market);
  {
    const auto timed = phases.scope("take memory, upload, record");
    trainer.initialise();
  }
  const run::RunDirectory directory = run::make_directory(profile, options, more);
  run::start_log_file(directory.log_file());
  spdlog::info("device: {}", device->description());
  if (profile.gpu_profile != "none") spdlog::info("gpu profile: {}", profile.gpu_profile);
  if (!given.run.seed) spdlog::info("seed: {} (drawn)", profile.run.seed.value());
  if (options.repeats) run::warn_of_repeat(*options.repeats, more);
  spdlog::info("{}", market.report());
  spdlog::info("memory: {}", trainer.memory_budget());
  spdlog::info("run: {}", directory.path().string());

  run::MetricsRecord metrics(directory);
  Outcome outcome;
  try {
    run::Progress progress(run::Progress::style_for(stderr, options.quiet), "iterations", 0,
                           profile.training.epochs * profile.training.gpu_timesteps_per_episode);
    outcome = trainer.run({&metrics, &progress, &phases, &directory});
  } catch (const Error& error) {
    run::log_error_to_file(error.what());
    throw;
  }
  const ExitCode signal = run::pending_exit_code();
  run::CheckList checks;
  if (profile.smoketest.enabled && signal == ExitCode::ok) {
    const auto timed = phases.scope("smoketest checks");
    checks = smoketest_checks(trainer, profile, outcome, directory);
  }
  const RunSummary summary{profile, market, *device, trainer, outcome, checks, phases, directory};
  const nlohmann::ordered_json figures = summary_json(summary);
  directory.write_summary(figures);
  nlohmann::ordered_json evaluation = std::move(outcome.evaluation);
  evaluation["splits"] = splits_json(market);
  directory.write_evaluation(evaluation);
  if (profile.run.report) run::write_report(directory, directory.report_file());
  if (options.repeats) run::compare_with_repeated(*options.repeats, outcome.fingerprint, outcome.iterations);
  if (!options.quiet) fmt::print(std::cout, "{}", summary_text(summary));
  const ExitCode code = exit_code_of(profile, checks, signal);
  if (options.json) run::print_json(figures, directory, code);
  return code;
}

}  // namespace foxhunt::dqn
