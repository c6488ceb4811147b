#include "core/alpha/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/alpha/auc.h"
#include "core/alpha/block_bootstrap.h"
#include "core/error.h"

namespace foxhunt::alpha {
namespace {

void check_probabilities(const HeldOut& held_out) {
  for (std::size_t i = 0; i < held_out.probability.size(); ++i) {
    const float p = held_out.probability[i];
    if (!(p >= 0 && p <= 1))
      throw Error(
          ExitCode::numerics,
          fmt::format("gate: the probability of held-out row {} at the horizon of {} is {}, expected 0 to 1: the "
                      "model's output is not finite; train again from an earlier checkpoint",
                      i / alpha_horizons, held_out.horizon[i % alpha_horizons], p));
  }
}

/// At least ten blocks: fewer say nothing of how an AUC varies.
std::int64_t block_rows(std::int64_t rows, double label_rows) {
  constexpr std::int64_t shortest = 50;  // what depends on more than the horizon, a bounce between bid and ask say
  const auto wanted = std::max(shortest, static_cast<std::int64_t>(std::ceil(4 * label_rows)));
  return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, rows / 10));
}

/// Of labels that lie closer than a horizon only one counts.
double independent(std::int64_t labels, std::int64_t of_class, std::int64_t rows, double label_rows) {
  const double within_horizon = label_rows * static_cast<double>(labels) / static_cast<double>(rows);
  return static_cast<double>(of_class) / std::max(1.0, within_horizon);
}

/// What a bootstrap's variance has to be multiplied by. Labels `apart` rows apart share 1 - apart / horizon of what
/// they look at; blocks keep 1 - apart / block of that. The two summed over all distances stand as 1 - horizon / (3
/// block).
double overlap_correction(double label_rows, std::int64_t block) {
  return 1 / (1 - std::min(0.5, label_rows / (3 * static_cast<double>(block))));
}

void judge_auc(HorizonGate& gate, const AucCounter& counter, std::int64_t rows, double label_rows,
               const GateOptions& options) {
  gate.auc = counter.auc();
  gate.auc_error = bootstrap_error({rows, gate.block, options.resamples, options.seed},
                                   [&](std::span<const std::uint32_t> weight) { return counter.auc(weight); }) *
                   std::sqrt(overlap_correction(label_rows, gate.block));
  const double blocks = std::max(2.0, static_cast<double>(rows) / static_cast<double>(gate.block));
  const double reach = student_t_quantile((1 - options.confidence) / alpha_horizons, blocks - 1) * gate.auc_error;
  gate.auc_low = std::max(0.0, gate.auc - reach);
  gate.auc_high = std::min(1.0, gate.auc + reach);
}

HorizonGate judge_horizon(const HeldOut& held_out, std::size_t h, const GateOptions& options) {
  const auto rows = static_cast<std::int64_t>(held_out.label.size() / alpha_horizons);
  HorizonGate gate;
  gate.horizon = held_out.horizon[h];
  gate.base_rate = held_out.base_rate[h];
  const auto probability = held_out.probability.subspan(h);
  const auto label = held_out.label.subspan(h);
  gate.model = calibrate(probability, label, alpha_horizons);
  gate.labels = gate.model.labels, gate.up = gate.model.up;
  const std::int64_t rarer = std::min(gate.up, gate.labels - gate.up);
  if (rarer == 0)
    throw Error(ExitCode::data,
                fmt::format("gate: the held-out rows have {} labels at the horizon of {}, {} of them up; both classes "
                            "are needed: add data or choose another horizon (alpha.horizons)",
                            gate.labels, gate.horizon, gate.up));
  gate.base = calibrate_constant(gate.base_rate, gate.labels, gate.up);
  gate.independent_labels = independent(gate.labels, rarer, rows, held_out.label_rows[h]);
  gate.block = block_rows(rows, held_out.label_rows[h]);
  judge_auc(gate, AucCounter(probability, label, alpha_horizons), rows, held_out.label_rows[h], options);
  gate.criteria = {
      {"auc", gate.auc_low, options.min_auc, true, fmt::format("lower bound of the AUC above {}", options.min_auc)},
      {"brier", gate.model.brier, gate.base.brier, false, "Brier score below the base rate's"},
      {"log_loss", gate.model.log_loss, gate.base.log_loss, false, "log loss below the base rate's"},
      {"independent_labels", gate.independent_labels, options.min_independent_labels, true,
       fmt::format("more than {} independent labels of the rarer class", options.min_independent_labels)}};
  return gate;
}

}  // namespace

HeldOut held_out(const Dataset& data, const market::Split& split, std::span<const float> probability) {
  HeldOut result;
  result.probability = probability;
  result.label = std::span(data.labels)
                     .subspan(static_cast<std::size_t>(split.begin) * alpha_horizons,
                              static_cast<std::size_t>(split.rows()) * alpha_horizons);
  if (probability.size() != result.label.size())
    throw Error(ExitCode::usage,
                fmt::format("gate: {} probabilities for {} labels", probability.size(), result.label.size()));
  result.label_rows = data.label_rows;
  for (std::size_t h = 0; h < alpha_horizons; ++h) {
    result.base_rate[h] = data.balance.train[h].base_rate();
    result.horizon[h] = data.horizons[h].text();
  }
  return result;
}

bool HorizonGate::passed() const {
  return std::all_of(criteria.begin(), criteria.end(), [](const Criterion& c) { return c.passed(); });
}

int GateResult::horizons_passed() const {
  return static_cast<int>(
      std::count_if(horizons.begin(), horizons.end(), [](const HorizonGate& gate) { return gate.passed(); }));
}

GateResult judge(const HeldOut& held_out, const GateOptions& options) {
  check_probabilities(held_out);
  GateResult result;
  result.options = options;
  for (std::size_t h = 0; h < alpha_horizons; ++h) result.horizons[h] = judge_horizon(held_out, h, options);
  return result;
}

}  // namespace foxhunt::alpha
