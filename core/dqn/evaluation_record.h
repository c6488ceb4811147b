#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "core/dqn/config.h"
#include "core/dqn/evaluator.h"
#include "core/dqn/market_loader.h"

namespace foxhunt::dqn {

/// Gain of each step of a session without costs, dollars: p * (fill - mid) + q * (next mid - fill) times the
/// multiplier (DESIGN 7).
std::vector<double> gross_gains(const SessionRecord& session, const Account& account);

/// evaluation.json: what policies did on the test split, in as many points as a chart can show, so that a report can be
/// made without the market.
///
/// {"time": [ms since 1970, the end of each point], "session_starts": [index of a point], "steps_per_point": n,
///  "policies": {name: {"net", "gross": [equity gained up to each point, $], "drawdown": [largest fall of net equity
///  from its peak, over the steps of each point, $]}},
///  "sessions": [{"begin", "end": ms, "steps", "net", "gross": $, "trades"} of the agent],
///  "values": see add_values}
class EvaluationRecord {
 public:
  /// The account and the lanes must outlive this.
  EvaluationRecord(const Account& account, const MarketTables::Lanes& lanes);

  /// A baseline; a session that ended early (ruin) keeps what it had.
  void add_policy(const std::string& name, std::span<const SessionRecord> sessions);
  /// The agent: a policy by that name, and its sessions one by one.
  void add_agent(std::span<const SessionRecord> sessions);
  /// What the agent expects at the first row of up to four sessions, spread over the split, before it holds a position:
  /// {"positions": [contracts], "support": [return of each atom], "states": [{"time": ms, "q": [action],
  ///  "distribution": [action][atom]}]}
  void add_values(const StateValues& values, const DqnConfig& config);

  const nlohmann::ordered_json& json() const { return json_; }

 private:
  const Account& account_;
  const MarketTables::Lanes& lanes_;
  std::int64_t steps_ = 0, stride_ = 1;
  nlohmann::ordered_json json_;
};

/// {"train", "validation", "test": {"begin", "end": ms, "rows", "sessions", "first_row"}, "rows": of the market}
nlohmann::ordered_json splits_json(const LoadedMarket& market);

}  // namespace foxhunt::dqn
