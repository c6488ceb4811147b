#pragma once
#include <functional>

#include "core/market/feature_inputs.h"
#include "core/market/features.h"

namespace foxhunt::market {

struct Feature {
  FeatureInfo info;
  std::function<Series(const FeatureInputs&)> compute;  ///< raw: finite, not yet standardised
};

/// The features in column order; feature_catalogue() is their names and help.
const std::vector<Feature>& all_features();

}  // namespace foxhunt::market
