#pragma once
#include "core/dqn/market_tables.h"
#include "core/run/market_fingerprint.h"

namespace foxhunt::dqn {

/// Rows: number of rows and features, where episodes may start, where sessions and splits end. Values: features, gaps,
/// costs.
run::MarketFingerprint fingerprint(const MarketTables& market);

}  // namespace foxhunt::dqn
