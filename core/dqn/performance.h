#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace foxhunt::dqn {

/// What one session's run gave, step by step. Dollars.
struct SessionRecord {
  std::vector<double> net;           ///< gain of each step, costs paid
  std::vector<std::int32_t> action;  ///< index of the action of each step
  double gross = 0;                  ///< gain of the session without costs
  std::int64_t trades = 0;           ///< changes of position
};

/// A policy's result on a split. Dollars unless stated.
struct Performance {
  std::int64_t sessions = 0, steps = 0, trades = 0;
  double net = 0, gross = 0, costs = 0;
  double mean_step = 0;
  double sharpe = 0;        ///< of the sessions' net gains, annualised by 252 sessions; NaN with fewer than two
  double max_drawdown = 0;  ///< largest fall of net equity from its peak, sessions one after the other
  std::vector<std::int64_t> actions;  ///< how often each was taken
  double action_entropy = 0;          ///< nats
};

Performance measure(std::span<const SessionRecord> sessions, int actions);

/// Entropy in nats of a histogram; 0 for an empty one.
double entropy(std::span<const std::int64_t> histogram);

}  // namespace foxhunt::dqn
