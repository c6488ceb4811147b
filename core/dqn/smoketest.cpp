#include "core/dqn/smoketest.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace foxhunt::dqn {
namespace {

void check_parameters_changed(run::CheckList& checks, Trainer& trainer) {
  const std::vector<float> now = trainer.device().download(trainer.agent().learner().parameters());
  double largest = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double change = std::abs(static_cast<double>(now[i]) - static_cast<double>(trainer.initial_parameters()[i]));
    largest = change <= largest ? largest : change;  // a NaN gets through
  }
  checks.add("parameters_changed", largest > 0 && std::isfinite(largest),
             fmt::format("largest change {:.3g} of {} parameters", largest, now.size()), largest);
}

void check_replay_filled(run::CheckList& checks, Trainer& trainer, const profile::Profile& profile) {
  const DqnConfig& c = trainer.agent().config();
  const std::vector<float> priority = trainer.device().download(trainer.agent().ring().priority);
  std::int64_t drawable = 0;
  for (const float p : priority) drawable += p > 0.0f;
  checks.add("replay_filled", drawable >= profile.training.min_replay_size,
             fmt::format("{} of {} transitions can be drawn, min_replay_size {}", drawable,
                         static_cast<std::int64_t>(c.episodes) * c.length, profile.training.min_replay_size),
             static_cast<double>(drawable));
}

void check_losses_finite(run::CheckList& checks, const Trainer& trainer, const Outcome& outcome, std::int64_t trips) {
  checks.add("losses_finite",
             outcome.updates > 0 && trips == 0 && trainer.nonfinite_losses() == 0 && trainer.losses_seen() > 0,
             fmt::format("{} updates, {} iterations with a non-finite value, {} of {} reported losses not finite",
                         outcome.updates, trips, trainer.nonfinite_losses(), trainer.losses_seen()),
             static_cast<double>(trips));
}

void check_accounting(run::CheckList& checks, Trainer& trainer, const Outcome& outcome) {
  const double error = std::max(trainer.validation().accounting_error(), trainer.test().accounting_error());
  // Rewards are float32 of dollars over a scale: a cent in a hundred thousand dollars.
  const double allowed = 0.01 + 1e-6 * std::abs(outcome.test.gross);
  checks.add("rewards_sum_to_equity", error <= allowed,
             fmt::format("off by ${:.6f} at most over {} sessions", error,
                         outcome.test.sessions + outcome.validation.sessions),
             error);
}

void check_entropy(run::CheckList& checks, Trainer& trainer, const profile::Profile& profile) {
  const DqnConfig& c = trainer.agent().config();
  const std::vector<std::int32_t> actions = trainer.device().download(trainer.agent().ring().action);
  const std::vector<std::uint8_t> flags = trainer.device().download(trainer.agent().ring().flags);
  std::vector<std::int64_t> histogram(static_cast<std::size_t>(c.actions), 0);
  for (std::size_t i = 0; i < actions.size(); ++i)
    if (!(flags[i] & transition_unused)) ++histogram.at(static_cast<std::size_t>(actions[i]));
  const double value = entropy(histogram);
  checks.add("action_entropy", value >= profile.smoketest.min_action_entropy,
             fmt::format("{:.3f} nats over the replay, floor {:.3f}, uniform {:.3f}", value,
                         profile.smoketest.min_action_entropy, std::log(static_cast<double>(c.actions))),
             value);
}

void check_checkpoint(run::CheckList& checks, Trainer& trainer, const run::RunDirectory& directory) {
  const std::filesystem::path file = directory.checkpoints() / "last.safetensors";
  const LearnerState on_device = download_learner(trainer.device(), trainer.agent());
  const LearnerState loaded = load_checkpoint(file);
  std::size_t floats = 0;
  for (const auto& [name, values] : loaded.tensors) floats += values.size();
  checks.add("checkpoint_round_trip", loaded == on_device,
             fmt::format("{} tensors, {} floats read back {}", loaded.tensors.size(), floats,
                         loaded == on_device ? "equal" : "DIFFERENT"),
             static_cast<double>(floats));
}

/// Plants a NaN in the first weight: the next iteration must refuse its update and leave all else as it was; with the
/// weight put back, training must go on.
void check_guard(run::CheckList& checks, Trainer& trainer) {
  Device& device = trainer.device();
  Agent& agent = trainer.agent();
  const DeviceSpan<float> weight = agent.learner().parameters().part(0, 1);
  const LearnerState before = download_learner(device, agent);
  const float good = before.tensors.at("parameters").front(), bad = std::numeric_limits<float>::quiet_NaN();
  const auto run_one = [&] {
    agent.iterate(1);
    device.synchronize();
    return agent.health();
  };
  const Health start = agent.health();
  device.upload(weight, std::span(&bad, 1));
  const Health planted = run_one();
  device.upload(weight, std::span(&good, 1));
  const bool untouched = download_learner(device, agent) == before;
  const Health recovered = run_one();
  const std::int64_t trips = planted.counters[counter_trips] - start.counters[counter_trips];
  const bool goes_on = recovered.counters[counter_trips] == planted.counters[counter_trips] &&
                       recovered.counters[counter_updates] == start.counters[counter_updates] + 1 &&
                       std::isfinite(recovered.isv[isv_loss]);
  checks.add("guard_trips_and_recovers", trips == 1 && untouched && goes_on,
             fmt::format("NaN in a weight: {} trip ({}), learner {}, next iteration {}", trips,
                         run::nonfinite_names(planted.counters[counter_nonfinite_mask]), untouched ? "untouched" : "CHANGED",
                         goes_on ? "learns" : "DOES NOT LEARN"),
             static_cast<double>(trips));
}

}  // namespace

run::CheckList smoketest_checks(Trainer& trainer, const profile::Profile& profile, const Outcome& outcome,
                                const run::RunDirectory& directory) {
  run::CheckList checks;
  const std::int64_t trips = trainer.agent().health().counters[counter_trips];
  check_parameters_changed(checks, trainer);
  check_replay_filled(checks, trainer, profile);
  check_losses_finite(checks, trainer, outcome, trips);
  check_accounting(checks, trainer, outcome);
  check_entropy(checks, trainer, profile);
  check_checkpoint(checks, trainer, directory);
  check_guard(checks, trainer);
  return checks;
}

}  // namespace foxhunt::dqn
