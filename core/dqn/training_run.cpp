#include "core/dqn/training_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <iostream>

#include "core/dqn/resume.h"
#include "core/dqn/smoketest.h"
#include "core/dqn/summary.h"
#include "core/profile/loader.h"
#include "core/run/interrupt.h"
#include "core/run/log.h"
#include "core/run/market_input.h"
#include "core/run/report.h"

namespace foxhunt::dqn {

namespace {

/// Brings trainer and folder to where the checkpoint was written. Leaves the point without its checkpoint's tensors.
void take_up(run::ResumePoint& point, Trainer& trainer, const TrainingRunOptions& options,
             const nlohmann::ordered_json& more) {
  const TrainingState state = load_training(point.checkpoint.contents, trainer.agent());
  trainer.restore(state);
  run::go_on(point, state, options.command_line, more);
}

ExitCode exit_code_of(const profile::Profile& profile, const run::CheckList& checks, ExitCode signal) {
  if (signal != ExitCode::ok) return signal;
  return profile.smoketest.enabled && !checks.all_passed() ? ExitCode::check_failed : ExitCode::ok;
}

/// What is trained, on what and with what, for the log.
void log_beginning(const profile::Profile& profile, const LoadedMarket& market, Trainer& trainer,
                   const run::RunDirectory& directory) {
  spdlog::info("device: {}", trainer.device().description());
  if (profile.gpu_profile != "none") spdlog::info("gpu profile: {}", profile.gpu_profile);
  spdlog::info("{}", market.report());
  if (!market.foresight.warning.empty()) spdlog::warn("{}", market.foresight.warning);
  spdlog::info("memory: {}; a checkpoint takes {:.1f} MiB", trainer.memory_budget(),
               static_cast<double>(trainer.checkpoint_bytes()) / (1 << 20));
  spdlog::info("run: {}", directory.path().string());
}

/// Everything that the end of a run leaves behind: files, and what a person or a program reads on standard output.
ExitCode leave_results(const RunSummary& summary, const TrainingRunOptions& options, ExitCode signal) {
  const nlohmann::ordered_json figures = summary_json(summary);
  summary.directory.write_summary(figures);
  nlohmann::ordered_json evaluation = summary.outcome.evaluation;
  evaluation["splits"] = splits_json(summary.market);
  summary.directory.write_evaluation(evaluation);
  if (summary.profile.run.report) run::write_report(summary.directory, summary.directory.report_file());
  if (options.repeats)
    run::compare_with_repeated(*options.repeats, summary.outcome.fingerprint, summary.outcome.iterations);
  if (!options.quiet) fmt::print(std::cout, "{}", summary_text(summary));
  const ExitCode code = exit_code_of(summary.profile, summary.checks, signal);
  if (options.json) run::print_json(figures, summary.directory, code);
  return code;
}

/// The folder is the point's, or without one a new one.
ExitCode train(const profile::Profile& given, const TrainingRunOptions& options, run::ResumePoint* point) {
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
  const std::unique_ptr<market::BookModel> book_model = options.open_book_model(*device, profile);
  const nlohmann::ordered_json more = [&] {
    const auto timed = phases.scope("sum data");
    return run::surroundings(*device, run::data_report(run::market_source(profile), book_model.get()));
  }();
  if (options.repeats) run::require_same_data(*options.repeats, more["data"]);
  const LoadedMarket market = [&] {
    const auto timed = phases.scope("load data");
    return load_market(profile, book_model.get());
  }();
  if (point) require_same_market(*point, market);
  Trainer trainer(*device, profile, market);
  {
    const auto timed = phases.scope("take memory, upload, record");
    trainer.initialise();
  }
  std::optional<run::RunDirectory> made;
  if (point) {
    const auto timed = phases.scope("restore");
    take_up(*point, trainer, options, more);
  } else {
    made = run::make_directory(profile, options, more);
    run::start_log_file(made->log_file());
  }
  const run::RunDirectory& directory = point ? point->directory : *made;
  log_beginning(profile, market, trainer, directory);
  if (!given.run.seed) spdlog::info("seed: {} (drawn)", profile.run.seed.value());
  if (options.repeats) run::warn_of_repeat(*options.repeats, more);

  run::MetricsRecord metrics =
      point ? run::MetricsRecord(directory, trainer.iteration()) : run::MetricsRecord(directory);
  Outcome outcome;
  try {
    run::Progress progress(run::Progress::style_for(stderr, options.quiet), "iterations", trainer.iteration(),
                           profile.training.epochs * profile.training.gpu_timesteps_per_episode);
    outcome = trainer.run({&metrics, &progress, &phases, &directory, {}});
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
  return leave_results({profile, market, *device, trainer, outcome, checks, phases, directory}, options, signal);
}

}  // namespace

ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options) {
  return train(profile, options, nullptr);
}

ExitCode resume_training(run::ResumePoint point, const TrainingRunOptions& options) {
  const profile::Profile profile = point.profile;
  return train(profile, options, &point);
}

}  // namespace foxhunt::dqn
