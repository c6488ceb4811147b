#include "core/dqn/training_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/dqn/smoketest.h"
#include "core/dqn/summary.h"
#include "core/profile/printer.h"
#include "core/run/interrupt.h"
#include "core/run/log.h"

namespace foxhunt::dqn {
namespace {

DeviceOptions device_options(const profile::Profile& profile) {
  DeviceOptions options;
  options.host_threads = static_cast<int>(profile.device.host_threads);
  // For the checking tools and for finding the kernel behind a failure: launch by launch, each waited for.
  const char* graphs = std::getenv("FOXHUNT_GRAPHS");
  options.graphs = !(graphs && std::string(graphs) == "0");
  return options;
}

nlohmann::ordered_json environment_of(const Device& device) { return {{"device", device.description()}}; }

run::RunDirectory make_directory(const profile::Profile& profile, const TrainingRunOptions& options,
                                 const Device& device) {
  run::RunDirectory directory = run::RunDirectory::create(profile.run.output, profile.name);
  directory.lock();
  directory.write_profile(profile::to_toml(profile));
  directory.write_command(options.command_line);
  directory.write_environment(environment_of(device));
  return directory;
}

/// Brings trainer and folder to where the checkpoint was written. Leaves the point without its checkpoint's tensors.
void take_up(ResumePoint& point, Trainer& trainer, const TrainingRunOptions& options) {
  const TrainingState state = load_training(point.checkpoint.contents, trainer.agent());
  trainer.restore(state);
  reopen_run(point, state, options.command_line, environment_of(trainer.device()));
  run::start_log_file(point.directory.log_file());
  spdlog::info("resumed: {}: {} iterations, {} epochs done", point.checkpoint.file.string(), state.iteration,
               state.epoch);
  for (const profile::SideBySide& change : point.changes)
    spdlog::info("changed: {}: {} -> {}", change.name, change.first, change.second);
  [[maybe_unused]] const FoundCheckpoint freed = std::move(point.checkpoint);
}

/// The folder is the point's, or without one a new one.
ExitCode train(const profile::Profile& profile, const TrainingRunOptions& options, ResumePoint* point) {
  run::PhaseTimer phases;
  run::start_console_log(options.quiet ? "warn" : profile.run.log_level);
  run::install_signal_handlers();
  std::unique_ptr<Device> device;
  {
    const auto timed = phases.scope("open device");
    device = open_device(profile.device.device, device_options(profile));
  }
  const LoadedMarket market = [&] {
    const auto timed = phases.scope("load data");
    return load_market(profile);
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
    take_up(*point, trainer, options);
  } else {
    made = make_directory(profile, options, *device);
    run::start_log_file(made->log_file());
  }
  const run::RunDirectory& directory = point ? point->directory : *made;
  spdlog::info("device: {}", device->description());
  spdlog::info("{}", market.report());
  spdlog::info("memory: {}; a checkpoint takes {:.1f} MiB", trainer.memory_budget(),
               static_cast<double>(trainer.checkpoint_bytes()) / (1 << 20));
  spdlog::info("run: {}", directory.path().string());

  run::MetricsLog metrics(directory.metrics_file());
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
  const RunSummary summary{profile, market, *device, trainer, outcome, checks, phases, directory};
  directory.write_summary(summary_json(summary));
  if (!options.quiet) fmt::print(std::cout, "{}", summary_text(summary));
  if (signal != ExitCode::ok) return signal;
  return profile.smoketest.enabled && !checks.all_passed() ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace

ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options) {
  return train(profile, options, nullptr);
}

ExitCode resume_training(const ResumeRequest& request, const TrainingRunOptions& options) {
  ResumePoint point = find_resume_point(request);
  const profile::Profile profile = point.profile;
  return train(profile, options, &point);
}

}  // namespace foxhunt::dqn
