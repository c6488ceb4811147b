#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/market/tape.h"

namespace foxhunt::market {

/// Markets of which the right answer is known.
enum class MarketKind {
  baseline,  ///< a mild drift that lasts some twenty minutes: something to learn, more than it costs to trade
  walk,      ///< a martingale: nothing to learn
  trend,     ///< a strong drift that lasts about an hour
  revert,    ///< pulled back to a fixed price
  skewed,    ///< 95 of 100 bars rise: always long is right
};

struct SynthOptions {
  MarketKind kind = MarketKind::baseline;
  std::int64_t sessions = 30;  ///< trading days, from Monday 2024-02-12, weekdays, 14:30 UTC
  std::uint64_t seed = 1;
  std::optional<double> strength;  ///< of the drift in units of a minute's noise, 0 to 1; none: the kind's own
  bool holes =
      true;          ///< missing minutes, and one halt of 45 minutes on the middle day, which splits its session in two
  bool roll = true;  ///< ESH4 becomes ESM4, 12.5 points higher, after two thirds of the days (three at least)
};

/// One-minute bars of an ES-like contract: 390 to 405 a day, busier at open and close, on the 0.25 grid.
/// The same options give the same bars on every platform: all arithmetic is on integers.
/// Throws Error(usage) for sessions outside 1 to 10,000 or a strength outside 0 to 1.
Bars synthesize(const SynthOptions& options);

const std::vector<std::string>& market_kind_names();
/// Throws Error(usage) that names the nearest kind.
MarketKind market_kind(const std::string& name);

}  // namespace foxhunt::market
