#include "core/dqn/performance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace foxhunt::dqn {
namespace {

constexpr double sessions_a_year = 252;

double annualised_sharpe(std::span<const double> gains) {
  const auto n = static_cast<double>(gains.size());
  if (gains.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean = std::accumulate(gains.begin(), gains.end(), 0.0) / n;
  double squares = 0;
  for (const double g : gains) squares += (g - mean) * (g - mean);
  const double deviation = std::sqrt(squares / (n - 1));
  return deviation > 0 ? mean / deviation * std::sqrt(sessions_a_year) : 0.0;
}

}  // namespace

double entropy(std::span<const std::int64_t> histogram) {
  const auto total = static_cast<double>(std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0}));
  double sum = 0;
  for (const std::int64_t count : histogram)
    if (count > 0) sum -= static_cast<double>(count) / total * std::log(static_cast<double>(count) / total);
  return sum;
}

Performance measure(std::span<const SessionRecord> sessions, int actions) {
  Performance p;
  p.actions.assign(static_cast<std::size_t>(actions), 0);
  std::vector<double> gains;
  double peak = 0;
  for (const SessionRecord& session : sessions) {
    double gain = 0;
    for (const double step : session.net) {
      gain += step;
      peak = std::max(peak, p.net + gain);
      p.max_drawdown = std::max(p.max_drawdown, peak - (p.net + gain));
    }
    for (const std::int32_t a : session.action) ++p.actions.at(static_cast<std::size_t>(a));
    p.net += gain;
    p.gross += session.gross;
    p.trades += session.trades;
    p.steps += static_cast<std::int64_t>(session.net.size());
    gains.push_back(gain);
  }
  p.sessions = static_cast<std::int64_t>(sessions.size());
  p.costs = p.gross - p.net;
  p.mean_step = p.steps ? p.net / static_cast<double>(p.steps) : 0.0;
  p.sharpe = annualised_sharpe(gains);
  p.action_entropy = entropy(p.actions);
  return p;
}

}  // namespace foxhunt::dqn
