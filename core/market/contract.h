#pragma once
#include <cstdint>
#include <string>

namespace foxhunt::market {

/// Prices are integers in units of 1e-9 points (Databento's), here and wherever a name ends in no other unit.
inline constexpr std::int64_t price_scale = 1'000'000'000;
/// Rows with a price beyond 4.6e9 points are left out, so that the distance of two prices cannot overflow.
inline constexpr std::int64_t largest_price = INT64_MAX / 2;

/// What a contract costs and pays.
struct Contract {
  std::string symbol;             ///< root, e.g. ES
  std::int64_t tick_size;         ///< 1e-9 points
  double multiplier;              ///< dollars per point and contract
  double commission;              ///< dollars per contract and side
  std::string calendar = "none";  ///< trading hours: one of calendar_names()
};

/// "ES" of an outright future's symbol "ESZ3" or "ESZ23"; "" of anything else (a spread, an option, a share).
std::string future_root(const std::string& symbol);

/// The built-in entry for a root ("ES") or a dated or continuous symbol ("ESZ3", "ES.FUT", "ES.c.0"); an unknown
/// symbol gives the default contract (tick 0.01, $1 a point, no commission, no calendar) with that symbol as its name.
Contract contract_for(const std::string& symbol);

}  // namespace foxhunt::market
