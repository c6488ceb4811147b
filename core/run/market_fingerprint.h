#pragma once
#include <cstdint>

namespace foxhunt::run {

/// Tells two markets apart by what training sees of them. 64-bit XXH64 sums.
struct MarketFingerprint {
  std::uint64_t rows;    ///< how many rows there are, and where sessions and splits begin and end
  std::uint64_t values;  ///< what is in them
  bool operator==(const MarketFingerprint&) const = default;
};

}  // namespace foxhunt::run
