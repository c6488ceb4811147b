#include "core/dqn/smoketest.h"

#include <fmt/format.h>

#include <cmath>

#include "core/run/smoke_checks.h"

namespace foxhunt::dqn {
namespace {

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

}  // namespace

run::CheckList smoketest_checks(Trainer& trainer, const profile::Profile& profile, const Outcome& outcome,
                                const run::RunDirectory& directory) {
  run::CheckList checks;
  const std::int64_t trips = trainer.agent().health().counters[counter_trips];
  run::check_parameters_changed(checks, trainer.initial_parameters(),
                                trainer.device().download(trainer.agent().learner().parameters()));
  check_replay_filled(checks, trainer, profile);
  run::check_losses_finite(checks, {outcome.updates, trips, trainer.losses_seen(), trainer.nonfinite_losses()});
  check_accounting(checks, trainer, outcome);
  check_entropy(checks, trainer, profile);
  check_checkpoint(checks, trainer, directory);
  run::check_guard(checks, trainer.device(), trainer.agent());
  return checks;
}

}  // namespace foxhunt::dqn
