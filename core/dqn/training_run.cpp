#include "core/dqn/training_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <iostream>

#include "core/dqn/smoketest.h"
#include "core/dqn/summary.h"
#include "core/profile/printer.h"
#include "core/run/interrupt.h"
#include "core/run/log.h"

namespace foxhunt::dqn {
namespace {

run::RunDirectory make_directory(const profile::Profile& profile, const TrainingRunOptions& options,
                                 const Device& device) {
  run::RunDirectory directory = run::RunDirectory::create(profile.run.output, profile.name);
  directory.write_profile(profile::to_toml(profile));
  directory.write_command(options.command_line);
  nlohmann::ordered_json more;
  more["device"] = device.description();
  directory.write_environment(more);
  return directory;
}

}  // namespace

DeviceOptions device_options(const profile::Profile& profile) {
  DeviceOptions options;
  options.host_threads = static_cast<int>(profile.device.host_threads);
  // For the checking tools and for finding the kernel behind a failure: launch by launch, each waited for.
  const char* graphs = std::getenv("FOXHUNT_GRAPHS");
  options.graphs = !(graphs && std::string(graphs) == "0");
  return options;
}

ExitCode run_training(const profile::Profile& profile, const TrainingRunOptions& options) {
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
  Trainer trainer(*device, profile, market);
  {
    const auto timed = phases.scope("take memory, upload, record");
    trainer.initialise();
  }
  const run::RunDirectory directory = make_directory(profile, options, *device);
  run::start_log_file(directory.log_file());
  spdlog::info("device: {}", device->description());
  spdlog::info("{}", market.report());
  spdlog::info("memory: {}", trainer.memory_budget());
  spdlog::info("run: {}", directory.path().string());

  run::MetricsLog metrics(directory.metrics_file()), validations(directory.validation_file());
  Outcome outcome;
  try {
    run::Progress progress(run::Progress::style_for(stderr, options.quiet), "iterations", 0,
                           profile.training.epochs * profile.training.gpu_timesteps_per_episode);
    outcome = trainer.run({&metrics, &progress, &phases, &directory, &validations});
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

}  // namespace foxhunt::dqn
