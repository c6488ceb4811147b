#pragma once
#include "core/market/rolling.h"
#include "core/market/tape.h"

namespace foxhunt::market {

/// What the features are made of, once a tape. Every column has a number a row and depends on rows up to it alone.
struct FeatureInputs {
  explicit FeatureInputs(const Tape& tape);

  std::size_t rows;
  std::vector<Run> runs;          ///< of one instrument
  std::vector<Run> sessions;      ///< each inside one run
  std::vector<char> run_starts;   ///< 1 at the first row of a run
  Series open, high, low, close;  ///< points
  Series change;                  ///< close less the close before, points; 0 where a run starts
  Series true_range;  ///< from the lower of low and the close before, to the higher of high and that close, points
  /// The measure of every price difference, so that features do not depend on a market's price: the mean true range of
  /// the last 240 rows, or a tenth of the run's so far where that is more. 0 only while no price has moved at all.
  Series scale;
  Series volume;
  Series log_volume;             ///< log(1 + volume)
  std::vector<std::int64_t> ts;  ///< UTC ns of the bar's close
  std::int64_t interval;         ///< ns
};

}  // namespace foxhunt::market
