#include "core/dqn/evaluation_record.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foxhunt::dqn {
namespace {

constexpr std::int64_t max_points = 800, max_states = 4;

std::size_t at(std::int64_t n) { return static_cast<std::size_t>(n); }

std::int64_t milliseconds(const market::Tape& tape, std::int64_t row) { return tape.ts[at(row)] / 1'000'000; }

/// Dollars to the cent: the file is for charts.
double cents(double dollars) { return std::round(dollars * 100) / 100; }

/// exp(logits) over their sum.
std::vector<double> softmax(std::span<const float> logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const float logit : logits) shares.push_back(std::exp(static_cast<double>(logit) - highest));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share = std::round(share / sum * 1e6) / 1e6;
  return shares;
}

/// Net and gross equity and the drawdown, step by step; one point every `stride` steps and one for what is left.
class EquityCurve {
 public:
  explicit EquityCurve(std::int64_t stride) : stride_(stride) {}

  void step(double net_gain, double gross_gain) {
    net_ += net_gain;
    gross_ += gross_gain;
    peak_ = std::max(peak_, net_);
    deepest_ = std::max(deepest_, peak_ - net_);
    if (++steps_ % stride_ == 0) close_point();
  }

  nlohmann::ordered_json json() {
    if (steps_ % stride_ != 0) close_point();
    return {{"net", net_points_}, {"gross", gross_points_}, {"drawdown", drawdown_points_}};
  }

 private:
  void close_point() {
    net_points_.push_back(cents(net_));
    gross_points_.push_back(cents(gross_));
    drawdown_points_.push_back(cents(deepest_));
    deepest_ = peak_ - net_;
  }

  std::int64_t stride_, steps_ = 0;
  double net_ = 0, gross_ = 0, peak_ = 0, deepest_ = 0;
  std::vector<double> net_points_, gross_points_, drawdown_points_;
};

}  // namespace

std::vector<double> gross_gains(const SessionRecord& session, const Account& account) {
  std::vector<double> gains;
  double position = 0;
  for (std::size_t k = 0; k < session.action.size(); ++k) {
    const std::size_t row = at(session.first_row) + k;
    const double next = static_cast<double>(account.positions[static_cast<std::size_t>(session.action[k])]);
    gains.push_back(position * static_cast<double>(account.tables.open_gap[row]) +
                    next * static_cast<double>(account.tables.hold_gap[row]));
    position = next;
  }
  return gains;
}

EvaluationRecord::EvaluationRecord(const Account& account, const MarketTables::Lanes& lanes)
    : account_(account), lanes_(lanes) {
  steps_ = std::accumulate(lanes.steps.begin(), lanes.steps.end(), std::int64_t{0});
  stride_ = std::max<std::int64_t>(1, (steps_ + max_points - 1) / max_points);
  std::vector<std::int64_t> time, starts;
  std::int64_t step = 0;
  for (std::size_t e = 0; e < lanes.start_rows.size(); ++e) {
    starts.push_back(step / stride_);
    for (int k = 0; k < lanes.steps[e]; ++k)
      if (++step % stride_ == 0 || step == steps_)
        time.push_back(milliseconds(account.tape, lanes.start_rows[e] + k + 1));
  }
  json_ = {{"time", time}, {"session_starts", starts}, {"steps_per_point", stride_}};
  json_["policies"] = nlohmann::ordered_json::object();
}

void EvaluationRecord::add_policy(const std::string& name, std::span<const SessionRecord> sessions) {
  EquityCurve curve(stride_);
  for (std::size_t e = 0; e < sessions.size(); ++e) {
    const std::vector<double> gross = gross_gains(sessions[e], account_);
    for (std::size_t k = 0; k < at(lanes_.steps[e]); ++k) {
      const bool ended = k >= gross.size();
      curve.step(ended ? 0 : sessions[e].net[k], ended ? 0 : gross[k]);
    }
  }
  json_["policies"][name] = curve.json();
}

void EvaluationRecord::add_agent(std::span<const SessionRecord> sessions) {
  add_policy("agent", sessions);
  auto rows = nlohmann::ordered_json::array();
  for (const SessionRecord& s : sessions) {
    const auto steps = static_cast<std::int64_t>(s.net.size());
    rows.push_back({{"begin", milliseconds(account_.tape, s.first_row)},
                    {"end", milliseconds(account_.tape, s.first_row + steps)},
                    {"steps", steps},
                    {"net", cents(std::accumulate(s.net.begin(), s.net.end(), 0.0))},
                    {"gross", cents(s.gross)},
                    {"trades", s.trades}});
  }
  json_["sessions"] = std::move(rows);
}

void EvaluationRecord::add_values(const StateValues& values, const DqnConfig& config) {
  const std::size_t actions = at(config.actions), atoms = at(config.atoms);
  std::vector<double> support;
  for (int z = 0; z < config.atoms; ++z)
    support.push_back(config.v_min + (config.v_max - config.v_min) * z / static_cast<double>(config.atoms - 1));
  auto states = nlohmann::ordered_json::array();
  const auto lanes = static_cast<std::int64_t>(lanes_.start_rows.size()), count = std::min(lanes, max_states);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t lane = at(i * lanes / count);
    const std::span<const float> q = std::span(values.q).subspan(lane * actions, actions);
    auto distribution = nlohmann::ordered_json::array();
    for (std::size_t a = 0; a < actions; ++a)
      distribution.push_back(softmax(std::span(values.logits).subspan((lane * actions + a) * atoms, atoms)));
    states.push_back({{"time", milliseconds(account_.tape, lanes_.start_rows[lane])},
                      {"q", std::vector<float>(q.begin(), q.end())},
                      {"distribution", std::move(distribution)}});
  }
  json_["values"] = {{"positions", account_.positions}, {"support", support}, {"states", std::move(states)}};
}

nlohmann::ordered_json splits_json(const LoadedMarket& market) {
  const market::Tape& tape = market.tape;
  const auto describe = [&](const market::Split& split) {
    return nlohmann::ordered_json{{"begin", milliseconds(tape, split.begin)},
                                  {"end", milliseconds(tape, split.end - 1)},
                                  {"rows", split.rows()},
                                  {"sessions", tape.session[at(split.end - 1)] - tape.session[at(split.begin)] + 1},
                                  {"first_row", split.begin}};
  };
  nlohmann::ordered_json json;
  json["train"] = describe(market.splits.train);
  if (market.splits.validation.rows() > 0) json["validation"] = describe(market.splits.validation);
  json["test"] = describe(market.splits.test);
  json["rows"] = tape.rows();
  return json;
}

}  // namespace foxhunt::dqn
