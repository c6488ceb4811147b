#include "core/alpha/smoketest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/alpha/live.h"
#include "core/run/smoke_checks.h"

namespace foxhunt::alpha {
namespace {

/// First against last fifth of the losses that were reported: a single batch says little.
void check_loss_fell(run::CheckList& checks, std::span<const float> losses) {
  const std::size_t part = std::max<std::size_t>(1, losses.size() / 5);
  const auto mean = [&](std::span<const float> some) {
    return std::accumulate(some.begin(), some.end(), 0.0) / static_cast<double>(some.size());
  };
  if (losses.empty()) return checks.add("loss_fell", false, "no loss was reported");
  const double first = mean(losses.first(part)), last = mean(losses.last(part));
  checks.add("loss_fell", last < first,
             fmt::format("mean of the first {} reported losses {:.4f}, of the last {:.4f}", part, first, last),
             last - first);
}

/// Shows the live path the snapshot before row `row`, and leaves its state at zero: no time passes.
void show_snapshot_before(LiveModel& live, const Dataset& data, std::int64_t row) {
  if (data.input[static_cast<std::size_t>(row)].first) return;
  Mbp10RawInput before = data.input[static_cast<std::size_t>(row - 1)];
  before.first = 1;
  before.seconds = 0;
  live.snapshot().write(before);
  live.perception_forward_captured();
  live.wait();
}

/// The first snapshots of the test split, one by one through the live path, against the evaluation of all at once.
void check_live_path(run::CheckList& checks, Trainer& trainer, const Dataset& data) {
  Device& device = trainer.device();
  const market::Split first = session_ranges(data, data.splits.test).front();
  const std::vector<float> expected = trainer.test().run(trainer.model().parameters(), trainer.snapshots());
  LiveModel live(device, trainer.model().options().trunk, data.tick);
  Arena arena(device);
  live.plan(arena);
  arena.commit();
  live.initialise(device.download(trainer.model().parameters()));
  live.capture_graph_a();
  show_snapshot_before(live, data, first.begin);
  double largest = 0;
  const std::int64_t count = std::min<std::int64_t>(first.rows(), 256);
  for (std::int64_t i = 0; i < count; ++i) {
    live.snapshot().write(data.input[static_cast<std::size_t>(first.begin + i)]);
    live.perception_forward_captured();
    const Prediction answer = live.wait();
    for (std::size_t h = 0; h < alpha_horizons; ++h) {
      const float wanted = expected[static_cast<std::size_t>(i) * alpha_horizons + h];
      const double off = std::abs(static_cast<double>(answer.probability[h]) - static_cast<double>(wanted));
      largest = off <= largest ? largest : off;  // a NaN gets through
    }
  }
  device.synchronize();
  checks.add("live_path_agrees", largest < 1e-6,
             fmt::format("{} snapshots: probabilities differ by {:.2g} at most", count, largest), largest);
}

void check_checkpoint(run::CheckList& checks, Trainer& trainer, const run::RunDirectory& directory) {
  const SavedModel loaded = load_model(directory.checkpoints() / "last.safetensors");
  const bool equal = loaded.parameters == trainer.device().download(trainer.model().parameters());
  checks.add("checkpoint_round_trip", equal,
             fmt::format("{} parameters read back {}", loaded.parameters.size(), equal ? "equal" : "DIFFERENT"),
             static_cast<double>(loaded.parameters.size()));
}

}  // namespace

run::CheckList smoketest_checks(Trainer& trainer, const Dataset& data, const Outcome& outcome,
                                const run::RunDirectory& directory) {
  run::CheckList checks;
  const std::vector<float>& losses = trainer.losses();
  const auto nonfinite = std::count_if(losses.begin(), losses.end(), [](float loss) { return !std::isfinite(loss); });
  run::check_parameters_changed(checks, trainer.initial_parameters(),
                                trainer.device().download(trainer.model().parameters()));
  check_loss_fell(checks, losses);
  run::check_losses_finite(checks, {outcome.updates, trainer.model().health().counters[counter_trips],
                                    static_cast<std::int64_t>(losses.size()), nonfinite});
  check_live_path(checks, trainer, data);
  check_checkpoint(checks, trainer, directory);
  run::check_guard(checks, trainer.device(), trainer.model());
  return checks;
}

}  // namespace foxhunt::alpha
