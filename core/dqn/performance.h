#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/dqn/market_tables.h"

namespace foxhunt::dqn {

/// What one session's run gave. Step k is decided at tape row first_row + k and gains up to the row after it; a
/// position left after the last step is closed at the row after that. Dollars.
struct SessionRecord {
  std::int64_t first_row = 0;
  std::vector<double> net;           ///< gain of each step, costs paid
  std::vector<std::int32_t> action;  ///< index of the action of each step
  double gross = 0;                  ///< gain of the session without costs
  std::int64_t trades = 0;           ///< changes of position, the closing one included
};

/// What records are measured against: the market that they come from and the account that was at stake.
struct Account {
  const market::Tape& tape;
  const MarketTables& tables;
  std::vector<float> positions;  ///< contracts, by action
  double max_contracts = 1;
  double capital = 0;  ///< dollars
  double periods_per_year = 252;
};

/// One round trip. Dollars; prices in points. gross = side * contracts * (exit_price - entry_price) * multiplier.
struct RoundTrip {
  std::int64_t session = 0;                ///< index of its record
  std::int64_t entry_row = 0;              ///< row that decided the first fill
  std::int64_t exit_row = 0;               ///< row that decided the last one, or that ended the session
  int side = 0;                            ///< 1 long, -1 short
  double contracts = 0;                    ///< that went in and came out, additions included
  double entry_price = 0, exit_price = 0;  ///< mean over the contracts of the fills, at mid
  double gross = 0, net = 0;               ///< net pays for the way in and the way out
};

/// A policy's result on a split. Dollars unless stated. NaN where there is nothing to take a mean of.
///
/// Sharpe and Sortino are of the net gains of trading periods, so that the length of a bar plays no part. A period is a
/// session; in a session longer than a day (daily bars, markets that never close) it is a UTC day.
///
/// A round trip runs from the fill that opens a position to the one that closes or turns it, changes of size included.
/// It pays for both; the fill that turns a position closes one round trip and opens the next.
struct Performance {
  std::int64_t sessions = 0, periods = 0, steps = 0;
  std::int64_t trades = 0, round_trips = 0;
  double net = 0, gross = 0, costs = 0;
  double mean_step = 0;
  double sharpe = 0;   ///< mean over sample deviation, annualised; NaN with fewer than two periods
  double sortino = 0;  ///< mean over root mean square of the losses, target 0; infinite for gains without a loss
  double periods_per_year = 0;
  double max_drawdown = 0;            ///< largest fall of net equity from its peak, sessions one after the other
  double drawdown_share = 0;          ///< the same as a share of the starting capital
  double hit_rate = 0;                ///< share of the round trips with a net gain above 0
  double mean_holding_steps = 0;      ///< of a round trip
  double mean_holding_minutes = 0;    ///< between the rows that decided its two ends
  double contracts = 0;               ///< turnover: contracts traded
  double notional = 0;                ///< turnover: their value, |price| * multiplier, at mid
  double exposure = 0;                ///< mean |position| / max_contracts over the steps
  double time_in_market = 0;          ///< share of the steps with a position
  std::vector<std::int64_t> actions;  ///< how often each was taken
  double action_entropy = 0;          ///< nats
};

/// `round_trips`, when given, receives every round trip in order; their net gains add up to that of the sessions.
Performance measure(std::span<const SessionRecord> sessions, const Account& account,
                    std::vector<RoundTrip>* round_trips = nullptr);

/// Trading periods that a year of this market holds, by its own calendar: (periods - 1) / (years from the first one's
/// first row to the last one's), where there are at least 20 of them over at least four weeks; else 252.
double periods_per_year(const market::Tape& tape);

/// Entropy in nats of a histogram; 0 for an empty one.
double entropy(std::span<const std::int64_t> histogram);

}  // namespace foxhunt::dqn
