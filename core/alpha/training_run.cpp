#include "core/alpha/training_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <iostream>

#include "core/alpha/dataset_loader.h"
#include "core/alpha/resume.h"
#include "core/alpha/smoketest.h"
#include "core/alpha/summary.h"
#include "core/profile/loader.h"
#include "core/run/interrupt.h"
#include "core/run/json.h"
#include "core/run/log.h"
#include "core/run/market_input.h"
#include "core/run/report.h"
#include "core/storage.h"

namespace foxhunt::alpha {
namespace {

ExitCode exit_code_of(const profile::Profile& profile, const run::TrainingRunOptions& options,
                      const run::CheckList& checks, const Outcome& outcome) {
  if (run::pending_signal() != 0) return run::pending_exit_code();
  if (profile.smoketest.enabled && !checks.all_passed()) return ExitCode::check_failed;
  return options.require_pass && !(outcome.gate && outcome.gate->passed()) ? ExitCode::gate : ExitCode::ok;
}

void log_start(const profile::Profile& given, const profile::Profile& profile, const Trainer& trainer,
               const Device& device, const Dataset& data, const run::RunDirectory& directory) {
  spdlog::info("device: {}", device.description());
  if (profile.gpu_profile != "none") spdlog::info("gpu profile: {}", profile.gpu_profile);
  if (!given.run.seed) spdlog::info("seed: {} (drawn)", profile.run.seed.value());
  spdlog::info("{}", report(data));
  spdlog::info("memory: {}", trainer.memory_budget());
  spdlog::info("run: {}", directory.path().string());
}

/// Brings trainer and folder to where the checkpoint was written. Leaves the point without its checkpoint's tensors.
void take_up(run::ResumePoint& point, Trainer& trainer, const run::TrainingRunOptions& options,
             const nlohmann::ordered_json& surroundings) {
  const TrainingState state = load_training(point.checkpoint.contents, trainer.model());
  trainer.restore(state);
  run::go_on(point, state, options.command_line, surroundings);
}

Outcome train_in(const run::RunDirectory& directory, const profile::Profile& profile,
                 const run::TrainingRunOptions& options, Trainer& trainer, run::PhaseTimer& phases, bool goes_on) {
  run::MetricsRecord metrics =
      goes_on ? run::MetricsRecord(directory, trainer.iteration()) : run::MetricsRecord(directory);
  try {
    run::Progress progress(run::Progress::style_for(stderr, options.quiet), "iterations", trainer.iteration(),
                           profile.training.epochs * profile.alpha.steps_per_epoch);
    return trainer.run({&metrics, &progress, &phases, &directory, {}});
  } catch (const Error& error) {
    run::log_error_to_file(error.what());
    throw;
  }
}

void write_results(const run::RunDirectory& directory, const Dataset& data, const Outcome& outcome,
                   const nlohmann::ordered_json& summary, bool with_report) {
  directory.write_summary(summary);
  directory.write_evaluation({{"splits", splits_json(data)}});
  if (outcome.gate) write_file_atomically(directory.gate_file(), run::json_text(outcome.gate->json(), 2) + "\n");
  if (with_report) run::write_report(directory, directory.report_file());
}

/// The folder is the point's, or without one a new one.
ExitCode train(const profile::Profile& given, const run::TrainingRunOptions& options, run::ResumePoint* point) {
  profile::Profile profile = given;
  profile::draw_seed(profile);
  run::PhaseTimer phases;
  run::start_console_log(options.quiet ? "warn" : profile.run.log_level);
  run::install_signal_handlers();
  const auto timed = [&](const char* name, auto work) {
    const auto scope = phases.scope(name);
    return work();
  };
  const auto device =
      timed("open device", [&] { return open_device(profile.device.device, run::device_options(profile)); });
  const nlohmann::ordered_json surroundings =
      timed("sum data", [&] { return run::surroundings(*device, run::data_report(run::market_source(profile))); });
  if (options.repeats) run::require_same_data(*options.repeats, surroundings["data"]);
  const Dataset data = timed("load data", [&] { return load_dataset(profile); });
  if (point) run::require_same_market(*point, fingerprint(data), data.source);
  Trainer trainer(*device, profile, data);
  timed("take memory, upload, record", [&] { trainer.initialise(point != nullptr); });
  std::optional<run::RunDirectory> made;
  if (point) {
    timed("restore", [&] { take_up(*point, trainer, options, surroundings); });
  } else {
    made = run::make_directory(profile, options, surroundings);
    run::start_log_file(made->log_file());
  }
  const run::RunDirectory& directory = point ? point->directory : *made;
  log_start(given, profile, trainer, *device, data, directory);
  if (options.repeats) run::warn_of_repeat(*options.repeats, surroundings);

  const Outcome outcome = train_in(directory, profile, options, trainer, phases, point != nullptr);
  run::CheckList checks;
  if (profile.smoketest.enabled && run::pending_signal() == 0)
    checks = timed("smoketest checks", [&] { return smoketest_checks(trainer, data, outcome, directory); });
  const RunSummary summary{profile, data, *device, trainer, outcome, checks, phases, directory};
  const nlohmann::ordered_json figures = summary_json(summary);
  write_results(directory, data, outcome, figures, profile.run.report);
  if (options.repeats) run::compare_with_repeated(*options.repeats, outcome.fingerprint, outcome.iterations);
  if (!options.quiet) fmt::print(std::cout, "{}", summary_text(summary));
  const ExitCode code = exit_code_of(profile, options, checks, outcome);
  if (options.json) run::print_json(figures, directory, code);
  return code;
}

}  // namespace

ExitCode run_training(const profile::Profile& profile, const run::TrainingRunOptions& options) {
  return train(profile, options, nullptr);
}

ExitCode resume_training(run::ResumePoint point, const run::TrainingRunOptions& options) {
  require_same_windows(point);
  const profile::Profile profile = point.profile;
  return train(profile, options, &point);
}

}  // namespace foxhunt::alpha
