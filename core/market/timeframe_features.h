#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/market/feature_inputs.h"
#include "core/market/features.h"

namespace foxhunt::market {

/// Names and help of one timeframe's features, in column order: "return_5m", ...
std::vector<FeatureInfo> timeframe_feature_infos(std::int64_t minutes);

/// Features of bars of `minutes` on every row, in that order (features.timeframes). A row shows the last bar that is
/// over: one shows first on the row that is known at the end of its stretch, or on the first one after; the bar that
/// is still forming shows nowhere. The last bar of a session, whole or cut short, shows from the next session on.
/// Bars start afresh at a roll; until a contract's first one is over, all are 0. O(rows).
/// Throws Error(usage) for minutes that longer_bars refuses.
std::vector<Series> timeframe_features(const Tape& tape, const FeatureInputs& inputs, std::int64_t minutes);

}  // namespace foxhunt::market
