#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/alpha/calibration.h"
#include "core/alpha/dataset.h"

namespace foxhunt::alpha {

/// What has to be shown before a model counts as one that predicts. Defaults are made so that a model of a market in
/// which there is nothing to learn passes less often than once in a thousand runs.
struct GateOptions {
  double confidence = 0.9999;  ///< that no AUC's lower bound is too high by chance, over all five horizons together
  double min_auc = 0.5;        ///< the lower bound lies above it
  double min_independent_labels = 20;  ///< of the rarer class
  int min_horizons = 1;                ///< that fulfil every criterion
  int resamples = 1000;                ///< 2 or more
  std::uint64_t seed = 1;
};

/// Predictions of held-out rows in time order, with what came.
struct HeldOut {
  std::span<const float> probability;               ///< [rows, 5]
  std::span<const std::uint8_t> label;              ///< [rows, 5]: 0, 1, anything else is masked
  std::array<double, alpha_horizons> base_rate{};   ///< share of class 1 in the training split, above 0 and below 1
  std::array<double, alpha_horizons> label_rows{};  ///< rows that a horizon spans: labels closer than this share moves
  std::array<std::string, alpha_horizons> horizon;  ///< names
};

/// The rows of a split with what the gate needs of the dataset. probability [split.rows(), 5]. Both have to outlive it.
HeldOut held_out(const Dataset& data, const market::Split& split, std::span<const float> probability);

/// One thing that a horizon has to show.
struct Criterion {
  std::string name;  ///< "auc", "brier", "log_loss", "independent_labels"
  double value = 0, threshold = 0;
  bool above = true;  ///< value > threshold is asked for; else value < threshold
  std::string words;  ///< what is asked for, in words

  bool passed() const { return above ? value > threshold : value < threshold; }
};

struct HorizonGate {
  std::string horizon;
  std::int64_t labels = 0, up = 0;
  double base_rate = 0;           ///< of the training split
  double independent_labels = 0;  ///< of the rarer class, as many as do not share the moves that they look at
  std::int64_t block = 0;         ///< rows of a bootstrap block: four times the horizon
  double auc = 0, auc_error = 0;  ///< with its standard error
  double auc_low = 0, auc_high = 0;
  Calibration model, base;  ///< base: the base rate as the answer to everything
  std::vector<Criterion> criteria;

  bool passed() const;
};

struct GateResult {
  GateOptions options;
  std::array<HorizonGate, alpha_horizons> horizons;

  int horizons_passed() const;
  bool passed() const { return horizons_passed() >= options.min_horizons; }
  std::string rule() const;  ///< what PASS means, a sentence
  nlohmann::ordered_json json() const;
  /// A table of the horizons, what failed, and the verdict with its rule, a line each.
  std::vector<std::string> words() const;
};

/// Judges predictions (DESIGN 10). Per horizon: the AUC with an interval from a block bootstrap, whose blocks are four
/// horizons long because labels closer than one share the moves that they look at; Brier score and log loss against
/// the training split's base rate; calibration. The interval is the AUC +- t standard errors, t of as many degrees of
/// freedom as there are blocks, less one, and of the confidence divided by five (Bonferroni).
///
/// Deterministic. Throws Error(numerics) for a probability that is not within [0, 1], naming row and horizon, and
/// Error(data) for a horizon without labels of both classes.
GateResult judge(const HeldOut& held_out, const GateOptions& options);

}  // namespace foxhunt::alpha
