#pragma once
#include <string>
#include <vector>

namespace foxhunt::market {

/// Markets of which the right answer is known; see market_kinds() for what it is.
enum class MarketKind { baseline, walk, trend, revert, skewed, regime };

struct MarketKindInfo {
  MarketKind kind;
  std::string name;
  std::string bars, books;  ///< one line each: what there is to learn
};

/// In the order of the enum.
const std::vector<MarketKindInfo>& market_kinds();

const std::string& market_kind_name(MarketKind kind);

/// Throws Error(usage) that names the nearest kind.
MarketKind market_kind(const std::string& name);

}  // namespace foxhunt::market
