#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "core/alpha/dataset_loader.h"
#include "core/alpha/trainer.h"
#include "core/alpha/training_run.h"
#include "core/profile/loader.h"
#include "core/run/json.h"
#include "core/run/log.h"
#include "core/run/market_input.h"
#include "core/run/memory_plan.h"

namespace foxhunt::alpha {
namespace {

std::string every(std::int64_t epochs) {
  return epochs == 0 ? "only at the end" : fmt::format("every {} epochs, and at the end", epochs);
}

std::string schedule_text(const profile::Profile& p, const Trainer& trainer) {
  const std::int64_t snapshots = p.alpha.windows * p.alpha.steps;
  const std::string decay = p.optimizer.schedule == "constant"
                                ? "constant"
                                : fmt::format("{} to {:g} of it", p.optimizer.schedule, p.optimizer.final_fraction);
  return fmt::format(
      "schedule: {} epochs of {} training steps; {} windows of {} snapshots a step, state {}, {} windows in all\n"
      "  one pass       over the training split every {:.1f} steps\n"
      "  learning rate  {:g} after {} steps of warm-up, then {}\n"
      "  evaluation     {}, by {}\n"
      "  checkpoints    {}\n",
      p.training.epochs, p.alpha.steps_per_epoch, p.alpha.windows, p.alpha.steps, p.alpha.state,
      trainer.training_windows(),
      static_cast<double>(trainer.data().splits.train.rows()) / static_cast<double>(snapshots),
      p.optimizer.learning_rate, p.optimizer.warmup_iterations, decay, every(p.evaluation.every_epochs), p.alpha.metric,
      every(p.checkpoint.every_epochs));
}

nlohmann::ordered_json one_step(Trainer& trainer) {
  const auto start = run::PhaseTimer::Clock::now();
  trainer.advance(1);
  const double ms = std::chrono::duration<double, std::milli>(run::PhaseTimer::Clock::now() - start).count();
  const Health health = trainer.model().health();
  return {{"milliseconds", ms},
          {"updates", health.counters[counter_updates]},
          {"guard_trips", health.counters[counter_trips]}};
}

}  // namespace

void dry_run(const profile::Profile& given, const run::TrainingRunOptions& options) {
  profile::Profile profile = given;
  profile::draw_seed(profile);
  run::start_console_log(options.quiet ? "warn" : profile.run.log_level);
  const std::unique_ptr<Device> device = open_device(profile.device.device, run::device_options(profile));
  const nlohmann::ordered_json source = run::data_report(run::market_source(profile));
  if (options.repeats) run::require_same_data(*options.repeats, source);
  const Dataset data = load_dataset(profile);
  Trainer trainer(*device, profile, data);
  const std::string budget = trainer.memory_budget();
  trainer.initialise();
  const nlohmann::ordered_json step = one_step(trainer);
  if (!options.quiet)
    fmt::print(std::cout,
               "device: {}\n{}\nmemory: {}\n{}{}one training step: {:.3f} ms, {} guard trips\nnothing was written\n",
               device->description(), report(data), budget,
               run::memory_plan_text(trainer.arena().entries(), trainer.memory_bytes()),
               schedule_text(profile, trainer), step["milliseconds"].get<double>(),
               step["guard_trips"].get<std::uint32_t>());
  if (!options.json) return;
  const nlohmann::ordered_json line = {{"exit_code", 0},          {"dry_run", true},
                                       {"profile", profile.name}, {"device", device->description()},
                                       {"data", source},          {"memory_bytes", trainer.memory_bytes()},
                                       {"iteration", step}};
  fmt::print(std::cout, "{}\n", run::json_text(line));
}

}  // namespace foxhunt::alpha
