#pragma once
#include <cstdint>
#include <span>

#include "core/run/phases.h"
#include "core/run/trainee.h"

namespace foxhunt::run {

// Checks that every smoke run is judged by, whichever model it trains. Each adds one to the list.

/// By how much the parameters moved; a NaN among them fails.
void check_parameters_changed(CheckList& checks, std::span<const float> initial, std::span<const float> now);

struct LossCounts {
  std::int64_t updates, trips;
  std::int64_t seen, nonfinite;  ///< losses that were reported
};
void check_losses_finite(CheckList& checks, const LossCounts& counts);

/// Plants a NaN in the first weight: the next iteration must refuse its update and leave all else as it was; with the
/// weight put back, training must go on.
void check_guard(CheckList& checks, Device& device, Trainee& trainee);

}  // namespace foxhunt::run
