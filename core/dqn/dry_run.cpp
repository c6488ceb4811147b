#include "core/dqn/dry_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <iostream>

#include "core/dqn/trainer.h"
#include "core/profile/loader.h"
#include "core/run/json.h"
#include "core/run/log.h"
#include "core/run/market_input.h"
#include "core/run/memory_plan.h"

namespace foxhunt::dqn {
namespace {

std::string every(std::int64_t epochs) {
  return epochs == 0 ? "only at the end" : fmt::format("every {} epochs, and at the end", epochs);
}

nlohmann::ordered_json one_iteration(Trainer& trainer) {
  const auto start = run::PhaseTimer::Clock::now();
  trainer.advance(1);
  const double ms = std::chrono::duration<double, std::milli>(run::PhaseTimer::Clock::now() - start).count();
  const Health health = trainer.agent().health();
  return {{"milliseconds", ms},
          {"updates", health.counters[counter_updates]},
          {"guard_trips", health.counters[counter_trips]}};
}

}  // namespace

std::string schedule_text(const profile::Profile& p) {
  const auto& t = p.training;
  const std::int64_t iterations = t.epochs * t.gpu_timesteps_per_episode;
  const std::string decay = p.optimizer.schedule == "constant"
                                ? "constant"
                                : fmt::format("{} to {:g} of it", p.optimizer.schedule, p.optimizer.final_fraction);
  return fmt::format(
      "schedule: {} epochs of {} iterations, {} in all; {} transitions\n"
      "  updates        of {} transitions each, from iteration {} on (min_replay_size {})\n"
      "  epsilon        {:g} to {:g} over {} iterations\n"
      "  beta           {:g} to {:g} over {} iterations\n"
      "  learning rate  {:g} after {} iterations of warm-up, then {}\n"
      "  evaluation     {}\n"
      "  checkpoints    {}\n",
      t.epochs, t.gpu_timesteps_per_episode, iterations, iterations * t.gpu_n_episodes, t.batch_size,
      (t.min_replay_size + t.gpu_n_episodes - 1) / t.gpu_n_episodes, t.min_replay_size, p.exploration.epsilon_start,
      p.exploration.epsilon_end, p.exploration.epsilon_iterations, p.replay_buffer.beta_start, p.replay_buffer.beta_end,
      p.replay_buffer.beta_iterations, p.optimizer.learning_rate, p.optimizer.warmup_iterations, decay,
      every(p.evaluation.every_epochs), every(p.checkpoint.every_epochs));
}

void dry_run(const profile::Profile& given, const TrainingRunOptions& options) {
  profile::Profile profile = given;
  profile::draw_seed(profile);
  profile.data.cache = "off";  // which would be written
  run::start_console_log(options.quiet ? "warn" : profile.run.log_level);
  const std::unique_ptr<Device> device = open_device(profile.device.device, run::device_options(profile));
  const std::unique_ptr<market::BookModel> book_model = options.open_book_model(*device, profile);
  const nlohmann::ordered_json data = run::data_report(run::market_source(profile), book_model.get());
  if (options.repeats) run::require_same_data(*options.repeats, data);
  const LoadedMarket market = load_market(profile, book_model.get());
  if (!market.foresight.warning.empty()) spdlog::warn("{}", market.foresight.warning);
  Trainer trainer(*device, profile, market);
  const std::string budget = trainer.memory_budget();
  trainer.initialise();
  const nlohmann::ordered_json iteration = one_iteration(trainer);
  if (!options.quiet)
    fmt::print(std::cout,
               "device: {}\n{}\nmemory: {}\n{}{}one iteration: {:.3f} ms, {} guard trips\nnothing was written\n",
               device->description(), market.report(), budget,
               run::memory_plan_text(trainer.arena().entries(), trainer.memory_bytes()), schedule_text(profile),
               iteration["milliseconds"].get<double>(), iteration["guard_trips"].get<std::uint32_t>());
  if (!options.json) return;
  const nlohmann::ordered_json line = {{"exit_code", 0},
                                       {"dry_run", true},
                                       {"profile", profile.name},
                                       {"device", device->description()},
                                       {"data", data},
                                       {"memory_bytes", trainer.memory_bytes()},
                                       {"iteration", iteration}};
  fmt::print(std::cout, "{}\n", run::json_text(line));
}

}  // namespace foxhunt::dqn
