#pragma once
#include <cstdint>

#include "core/dqn/market_tables.h"

namespace foxhunt::dqn {

/// Tells two markets apart by what training sees of them. 64-bit XXH64 sums.
struct MarketFingerprint {
  std::uint64_t rows;    ///< number of rows and features, where episodes may start, where sessions and splits end
  std::uint64_t values;  ///< features, gaps, costs
  bool operator==(const MarketFingerprint&) const = default;
};

MarketFingerprint fingerprint(const MarketTables& market);

}  // namespace foxhunt::dqn
