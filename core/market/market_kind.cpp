#include "core/market/market_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace foxhunt::market {

const std::vector<MarketKindInfo>& market_kinds() {
  static const std::vector<MarketKindInfo> kinds{
      {MarketKind::baseline, "baseline", "a mild drift that lasts some twenty minutes, more than it costs to trade",
       "pressure that is drawn anew every 50 rows"},
      {MarketKind::walk, "walk", "a martingale: nothing to learn", "pressure that the mid ignores: nothing to learn"},
      {MarketKind::trend, "trend", "a strong drift that lasts about an hour",
       "pressure that is drawn anew every 500 rows"},
      {MarketKind::revert, "revert", "pulled back to a fixed price",
       "pressure towards the opening mid, looked up anew every 50 rows"},
      {MarketKind::skewed, "skewed", "95 of 100 bars rise: always long is right", "95 of 100 moves are up"},
      {MarketKind::regime, "regime", "97 bars of trend, 97 of reversion to where they began, and so on",
       "2000 rows of pressure as in baseline, 2000 of pressure towards where they began, and so on"},
  };
  return kinds;
}

const std::string& market_kind_name(MarketKind kind) { return market_kinds()[static_cast<std::size_t>(kind)].name; }

MarketKind market_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const MarketKindInfo& info : market_kinds()) {
    if (info.name == name) return info.kind;
    names.push_back(info.name);
  }
  const std::string nearest = nearest_name(name, names);
  throw Error(ExitCode::usage, fmt::format("no market kind '{}'; the kinds are {}{}", name, fmt::join(names, ", "),
                                           nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

}  // namespace foxhunt::market
