#pragma once
#include <string>
#include <vector>

#include "core/market/feature_values.h"
#include "core/market/tape.h"

namespace foxhunt::market {

/// Features of every tape row, row-major [rows, names.size()]: standardised by the training split, clipped, finite.
struct FeatureTable {
  std::vector<std::string> names;
  FeatureValues values;
  std::vector<double> mean, deviation;  ///< of the training split, before standardising; deviation > 0

  std::size_t width() const { return names.size(); }
};

/// How the columns that a model takes are standardised, in its order.
struct Standardisation {
  std::vector<std::string> names;
  std::vector<double> mean, deviation;  ///< deviation > 0

  bool operator==(const Standardisation&) const = default;
};
Standardisation standardisation_of(const FeatureTable& table);

/// Names and one line of meaning, in column order.
struct FeatureInfo {
  std::string name, help;
};
const std::vector<FeatureInfo>& feature_catalogue();

/// Causal: row i depends on rows <= i of the same instrument alone (a test changes the future and compares).
/// Windows do not reach across a roll; where a window is not yet full it uses the rows there are. A column that does
/// not vary over the training split is divided by 1. Takes O(rows) a feature.
/// After the catalogue's features come those of each of `timeframes`, minutes (see timeframe_features), then the bars'
/// extra columns, each under its own name; a missing value is the last known one, of whatever instrument.
/// Throws Error(data) when `train` is not a part of the tape, Error(usage) for a clip that is not above 0, for an extra
/// column whose name is taken and for a timeframe that is no multiple of the rows' interval.
FeatureTable make_features(const Tape& tape, const Split& train, double clip,
                           const std::vector<std::int64_t>& timeframes = {});

/// The columns that a model takes, in its order and standardised by its numbers, whatever split they come from; others
/// are left out. A missing value of an extra column is the last known one, before the first the model's mean. Throws
/// Error(data) naming the features that this market does not have, and as above.
FeatureTable make_features(const Tape& tape, const Standardisation& model, double clip,
                           const std::vector<std::int64_t>& timeframes = {});

}  // namespace foxhunt::market
