#include "core/run/early_stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace foxhunt::run {

EarlyStopping::EarlyStopping(std::int64_t patience, double min_delta)
    : patience_(std::max<std::int64_t>(patience, 1)), min_delta_(min_delta) {}

EarlyStopping::EarlyStopping(const profile::Profile::EarlyStopping& options)
    : EarlyStopping(options.enabled ? options.patience : std::numeric_limits<std::int64_t>::max(), options.min_delta) {}

EarlyStopping::Decision EarlyStopping::update(double metric) {
  if (stopped()) return Decision::stop;
  const std::int64_t index = state_.evaluations++;
  state_.last = metric;
  if (!std::isfinite(metric)) {
    state_.reason = Reason::not_finite;
    return Decision::stop;
  }
  if (state_.best_index < 0 || metric > state_.best + min_delta_) {
    state_.best = metric;
    state_.best_index = index;
    return Decision::improved;
  }
  if (index - state_.best_index < patience_) return Decision::no_improvement;
  state_.reason = Reason::patience;
  return Decision::stop;
}

void EarlyStopping::restore(const State& state) {
  state_ = state;
  const std::int64_t since_best = state_.evaluations - 1 - state_.best_index;
  if (state_.reason == Reason::patience && since_best < patience_) state_.reason = Reason::none;
}

std::string EarlyStopping::reason_text() const {
  const std::string best = state_.best_index < 0
                               ? "there was no finite one before"
                               : fmt::format("best {:.6g} at evaluation {}", state_.best, state_.best_index);
  switch (state_.reason) {
    case Reason::none:
      return "";
    case Reason::patience:
      return fmt::format("no gain of more than {:g} in {} evaluations; {}", min_delta_, patience_, best);
    case Reason::not_finite:
      return fmt::format("the metric became {} at evaluation {}; {}", state_.last, state_.evaluations - 1, best);
  }
  return "";
}

}  // namespace foxhunt::run
