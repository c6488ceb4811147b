#pragma once
#include <cstdint>
#include <vector>

#include "core/device/arena.h"
#include "core/market/features.h"

namespace foxhunt::dqn {

/// A market as the environment's kernels read it: dollars per contract, computed from the Tape's integers in float64
/// and rounded once. All columns have `rows` elements.
struct MarketTables {
  int rows = 0, features = 0;
  market::FeatureValues table;      ///< [rows, features]; shared with the FeatureTable
  std::vector<float> open_gap;      ///< multiplier * (fill - mid)
  std::vector<float> hold_gap;      ///< multiplier * (next mid - fill)
  std::vector<float> cost;          ///< multiplier * (half spread + slippage) + commission
  std::vector<std::uint8_t> flags;  ///< MarketFlag; last rows of sessions and of splits

  /// Rows of one split that a full episode may run through, one lane for each session in it.
  struct Lanes {
    std::vector<std::int32_t> start_rows;
    std::vector<int> steps;  ///< decisions of each lane: its rows but the last
    int longest = 0;         ///< rows of the longest lane
  };
  std::vector<std::int32_t> train_starts;  ///< every row of the training split at which something can be decided
  Lanes validation, test;
  double typical_move = 0;  ///< root mean square of a training row's move, dollars per contract
};

/// The columns, without starts and lanes. No episode leaves a split that holds rows; of an empty split (of a market
/// that is not divided) there is nothing to leave.
MarketTables make_market_columns(const market::Tape& tape, const market::FeatureTable& features,
                                 const market::Splits& splits, double slippage_ticks);

/// One lane for each session of rows of these tables. Empty when there is no row that can be traded.
MarketTables::Lanes session_lanes(const MarketTables& tables, const market::Split& rows);

/// All that training needs. Throws Error(data) when a split holds no row that can be traded.
MarketTables make_market_tables(const market::Tape& tape, const market::FeatureTable& features,
                                const market::Splits& splits, double slippage_ticks);

/// The same on the device: what agents share.
struct DeviceMarket {
  int rows = 0, features = 0;
  DeviceSpan<float> table, open_gap, hold_gap, cost;
  DeviceSpan<std::uint8_t> flags;

  void plan(Arena& arena, const MarketTables& market);
  void upload(Device& device, const MarketTables& market);
};

}  // namespace foxhunt::dqn
