#pragma once
#include "core/dqn/agent.h"
#include "core/dqn/baselines.h"
#include "core/dqn/performance.h"

namespace foxhunt::dqn {

/// What the network says of one observation a lane.
struct StateValues {
  std::vector<float> q;       ///< [lanes, actions] expected returns
  std::vector<float> logits;  ///< [lanes, actions, atoms] of their distributions
};

/// Runs the agent's greedy policy, or any other, through every session of a split, each in a lane of its own, with the
/// environment's own kernels. The agent is not changed.
class Evaluator {
 public:
  Evaluator(Device& device, Agent& agent, const MarketTables::Lanes& lanes);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void plan(Arena& arena);
  /// After Arena::commit. The market must outlive this.
  void initialise(const DeviceMarket& market);
  /// By the agent's greedy policy.
  std::vector<SessionRecord> run();
  /// By a policy of the market's rows: it is asked once for each row of the split but the last of each session.
  std::vector<SessionRecord> run(const Policy& policy);
  /// What the agent expects at the first row of each session, before it holds a position.
  StateValues values_at_start();
  /// Dollars by which the rewards of the last run, added up, differ from the episodes' equity: zero but for rounding.
  double accounting_error() const { return accounting_error_; }
  /// Non-finite values met in the last run.
  std::int64_t nonfinite() const { return nonfinite_; }

 private:
  void record();
  void reset();
  std::vector<SessionRecord> collect();

  Device& device_;
  Agent& agent_;
  const MarketTables::Lanes& lanes_;
  const DeviceMarket* market_ = nullptr;
  EpisodeRing ring_;
  DeviceSpan<float> isv_, observation_, logits_, q_;
  DeviceSpan<std::uint32_t> counters_;
  DeviceSpan<std::int32_t> no_sample_, no_next_;
  nn::Activations activations_;
  std::unique_ptr<MappedBuffer<std::uint32_t>> health_;
  std::unique_ptr<MappedBuffer<std::int32_t>>
      script_;                     ///< [script_steps, lanes] a policy's actions, for the kernels to read
  std::unique_ptr<Program> step_;  ///< of the agent's greedy policy
  std::unique_ptr<Program> begin_step_, end_step_;  ///< around a policy's
  double accounting_error_ = 0;
  std::int64_t nonfinite_ = 0;
};

}  // namespace foxhunt::dqn
