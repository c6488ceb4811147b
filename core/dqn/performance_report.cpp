#include "core/dqn/performance_report.h"

#include <fmt/format.h>

#include <cmath>

namespace foxhunt::dqn {
namespace {

/// A number, or "-" where there is none.
std::string cell(double value, int decimals, const char* unit = "") {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}{}", value, decimals, unit);
}

}  // namespace

nlohmann::ordered_json performance_json(const Performance& p, std::span<const double> positions) {
  nlohmann::ordered_json actions;
  for (std::size_t a = 0; a < p.actions.size(); ++a) actions[fmt::format("{:+g}", positions[a])] = p.actions[a];
  return {{"net_pnl", p.net},
          {"gross_pnl", p.gross},
          {"costs", p.costs},
          {"sharpe", p.sharpe},
          {"sortino", p.sortino},
          {"max_drawdown", p.max_drawdown},
          {"max_drawdown_of_capital", p.drawdown_share},
          {"trades", p.trades},
          {"round_trips", p.round_trips},
          {"hit_rate", p.hit_rate},
          {"mean_holding_steps", p.mean_holding_steps},
          {"mean_holding_minutes", p.mean_holding_minutes},
          {"contracts_traded", p.contracts},
          {"notional_traded", p.notional},
          {"exposure", p.exposure},
          {"time_in_market", p.time_in_market},
          {"sessions", p.sessions},
          {"periods", p.periods},
          {"steps", p.steps},
          {"actions", actions},
          {"action_entropy", p.action_entropy}};
}

std::vector<double> action_positions(const profile::Profile& profile) {
  std::vector<double> positions = profile.environment.actions;
  for (double& position : positions) position *= profile.environment.max_contracts;
  return positions;
}

std::string performance_header(const std::string& title) {
  return fmt::format("  {:<13}{:>11}{:>11}{:>10}{:>8}{:>8}{:>8}{:>12}{:>6}{:>9}{:>8}{:>9}\n", title, "net $", "gross $",
                     "costs $", "trades", "Sharpe", "Sortino", "drawdown $", "hit", "hold min", "in mkt", "sessions");
}

std::string performance_row(const std::string& name, const Performance& p) {
  return fmt::format("  {:<13}{:>11.2f}{:>11.2f}{:>10.2f}{:>8}{:>8}{:>8}{:>12.2f}{:>6}{:>9}{:>8}{:>9}\n", name, p.net,
                     p.gross, p.costs, p.trades, cell(p.sharpe, 2), cell(p.sortino, 2), p.max_drawdown,
                     cell(100 * p.hit_rate, 0, "%"), cell(p.mean_holding_minutes, 1),
                     cell(100 * p.time_in_market, 0, "%"), p.sessions);
}

}  // namespace foxhunt::dqn
