#include "core/run/smoke_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/run/guard.h"

namespace foxhunt::run {

void check_parameters_changed(CheckList& checks, std::span<const float> initial, std::span<const float> now) {
  double largest = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double change = std::abs(static_cast<double>(now[i]) - static_cast<double>(initial[i]));
    largest = change <= largest ? largest : change;  // a NaN gets through
  }
  checks.add("parameters_changed", largest > 0 && std::isfinite(largest),
             fmt::format("largest change {:.3g} of {} parameters", largest, now.size()), largest);
}

void check_losses_finite(CheckList& checks, const LossCounts& c) {
  checks.add("losses_finite", c.updates > 0 && c.trips == 0 && c.nonfinite == 0 && c.seen > 0,
             fmt::format("{} updates, {} iterations with a non-finite value, {} of {} reported losses not finite",
                         c.updates, c.trips, c.nonfinite, c.seen),
             static_cast<double>(c.trips));
}

void check_guard(CheckList& checks, Device& device, Trainee& trainee) {
  const DeviceSpan<float> block = trainee.learner_block(), weight = block.part(0, 1);
  const std::vector<float> before = device.download(block);
  const float good = before.front(), bad = std::numeric_limits<float>::quiet_NaN();
  const auto run_one = [&] {
    trainee.iterate(1);
    device.synchronize();
    return trainee.health();
  };
  const Health start = trainee.health();
  device.upload(weight, std::span(&bad, 1));
  const Health planted = run_one();
  device.upload(weight, std::span(&good, 1));
  const bool untouched = device.download(block) == before;
  const Health recovered = run_one();
  const std::int64_t trips = planted.counters[counter_trips] - start.counters[counter_trips];
  const bool goes_on = recovered.counters[counter_trips] == planted.counters[counter_trips] &&
                       recovered.counters[counter_updates] == start.counters[counter_updates] + 1 &&
                       std::isfinite(recovered.isv[isv_loss]);
  checks.add("guard_trips_and_recovers", trips == 1 && untouched && goes_on,
             fmt::format("NaN in a weight: {} trip ({}), learner {}, next iteration {}", trips,
                         nonfinite_names(planted.counters[counter_nonfinite_mask]), untouched ? "untouched" : "CHANGED",
                         goes_on ? "learns" : "DOES NOT LEARN"),
             static_cast<double>(trips));
}

}  // namespace foxhunt::run
