#include "core/alpha/config.h"

#include <algorithm>
#include <limits>

#include "core/market/civil_time.h"

namespace foxhunt::alpha {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;

int clamped(std::int64_t value) {
  return static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
}

LearningRate learning_rate(const profile::Profile& p) {
  return {.peak = static_cast<float>(p.optimizer.learning_rate),
          .final_fraction = static_cast<float>(p.optimizer.final_fraction),
          .warmup_steps = clamped(p.optimizer.warmup_iterations),
          .total_steps = clamped(p.training.epochs * p.alpha.steps_per_epoch),
          .decay = p.optimizer.schedule == "linear"   ? 1
                   : p.optimizer.schedule == "cosine" ? 2
                                                      : 0};
}

}  // namespace

Horizons horizons_of(const profile::Profile::Alpha& alpha) {
  Horizons horizons;
  for (std::size_t h = 0; h < horizons.size(); ++h) {
    const std::int64_t length = alpha.horizons.at(h);
    if (alpha.horizon_unit == "ms")
      horizons[h].nanoseconds = length * ns_per_ms;
    else
      horizons[h].rows = length;
  }
  return horizons;
}

DatasetOptions dataset_options(const profile::Profile& p, const market::Contract& contract) {
  DatasetOptions options;
  options.horizons = horizons_of(p.alpha);
  options.contract = contract;
  options.calendar = p.data.calendar;
  options.session_gap = p.data.session_gap_minutes * market::ns_per_minute;
  options.train_fraction = p.data.train_fraction;
  options.validation_fraction = p.data.validation_fraction;
  options.purge_rows = p.data.purge_rows;
  options.steps = static_cast<int>(p.alpha.steps);
  return options;
}

ModelOptions model_options(const profile::Profile& p) {
  ModelOptions options;
  options.trunk = {.hidden = static_cast<int>(p.alpha.hidden), .tau_min = static_cast<float>(p.alpha.tau_min)};
  options.windows = static_cast<int>(p.alpha.windows);
  options.steps = static_cast<int>(p.alpha.steps);
  options.carry = p.alpha.state == "carry";
  options.adam = {static_cast<float>(p.optimizer.beta1), static_cast<float>(p.optimizer.beta2),
                  static_cast<float>(p.optimizer.epsilon), static_cast<float>(p.optimizer.weight_decay),
                  static_cast<float>(p.optimizer.max_grad_norm)};
  options.learning_rate = learning_rate(p);
  options.seed = static_cast<std::uint64_t>(p.run.seed.value());
  return options;
}

GateOptions gate_options(const profile::Profile& p) {
  GateOptions options;
  options.confidence = p.gate.confidence;
  options.min_auc = p.gate.min_auc;
  options.min_independent_labels = p.gate.min_independent_labels;
  options.min_horizons = static_cast<int>(p.gate.min_horizons);
  options.resamples = static_cast<int>(p.gate.resamples);
  options.seed = static_cast<std::uint64_t>(p.run.seed.value());
  return options;
}

}  // namespace foxhunt::alpha
