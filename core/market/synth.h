#pragma once
#include <cstdint>
#include <optional>

#include "core/market/books.h"
#include "core/market/market_kind.h"
#include "core/market/tape.h"

// Generated markets of an ES-like contract (tick 0.25), of which the right answer is known. The same options give the
// same market on every platform: what decides is integer arithmetic.
namespace foxhunt::market {

struct SynthOptions {
  MarketKind kind = MarketKind::baseline;
  std::int64_t sessions = 30;  ///< trading days, from Monday 2024-02-12, weekdays, 14:30 UTC
  std::uint64_t seed = 1;

  /// 0 to 1; none: the kind's own. Of bars: the drift in units of a minute's noise. Of books: the edge, see
  /// synthesize_books. Kinds walk and skewed are what they are and take none.
  std::optional<double> strength{};

  /// Bars: missing minutes. Books: of rows without a trade, one in 1024 has one side alone and one in 512 lacks levels
  /// of a side. Both: one halt of 45 minutes on the middle day, which splits its session in two.
  bool holes = true;
  bool roll = true;  ///< ESH4 becomes ESM4, 12.5 points higher, after two thirds of the days (three at least)

  /// Bars only, 0 to 1: adds the column "signal"; see synthesize.
  std::optional<double> signal{};
  std::int64_t rows = 10'000;  ///< books only: rows of a session
};

/// Bars of kind regime: so many of trend, then so many of reversion, counted over all rows of the market.
inline constexpr std::int64_t regime_bars = 97;
/// The same of books.
inline constexpr std::int64_t regime_rows = 2'000;

/// One-minute bars: 390 to 405 a day, busier at open and close, on the tick grid.
///
/// With options.signal, each bar has an extra column, known at its close, whose correlation with the change from this
/// close to the next is that number: s r + sqrt(1 - s^2) e, with r that change, standardised over the market, and e
/// normal noise of its own. A day's last bar, after which no trade is possible, has noise alone. The bars are the same
/// with it and without.
///
/// Throws Error(usage) for sessions outside 1 to 10,000, a strength or signal outside 0 to 1, or a strength of a kind
/// that takes none.
Bars synthesize(const SynthOptions& options);

/// Ten-level snapshots at random times, 0.2 s apart in the mean (less at open and close; one in 20 shares its time with
/// the row before), with the trades between them.
///
/// What is known of the answer. A hidden pressure, +1 or -1, is drawn anew with probability q on every row (kinds:
/// market_kinds()). The best bid is larger than the best ask exactly when it is +1, and the aggressor of a trade is on
/// its side three times in four. The mid changes on a fifth of the rows, in steps of half a tick (the spread changes)
/// or one, 0.175 ticks a row in the mean. When the next row's mid differs from this row's, it lies on the side of the
/// larger best size with probability (1 + edge) / 2, and nothing in the rows so far says more: that is the accuracy and
/// the AUC of the best model one row ahead. Over h rows of kinds baseline and trend the mid is expected to go 0.175
/// edge (1 - (1 - q)^h) / q ticks that way. Edges are 0.2 for baseline, 0.4 for trend, revert and regime, 0.9 for
/// skewed (whose pressure is always +1), 0 for walk: there every change of the mid is a fair coin, and no model can
/// know anything at any horizon.
///
/// The accuracy of the pressure alone, measured over 600,000 rows, of the mid's side after 1, 10, 100 rows and 1, 10 s:
/// baseline 0.60 0.62 0.64 0.61 0.65, trend 0.70 0.76 0.93 0.73 0.89, revert 0.70 0.75 0.72 0.73 0.78, regime
/// 0.70 0.74 0.72 0.72 0.77, skewed 0.95 0.98 1.00 0.97 1.00, walk 0.50 throughout.
///
/// A trade leaves the book as it found it. Throws Error(usage) as synthesize does, and for rows outside 2 to 100,000 or
/// more than 10,000,000 in all.
Books synthesize_books(const SynthOptions& options);

}  // namespace foxhunt::market
