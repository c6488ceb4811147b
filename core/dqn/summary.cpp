#include "core/dqn/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace foxhunt::dqn {
namespace {

nlohmann::ordered_json to_json(const Performance& p, const profile::Profile& profile) {
  nlohmann::ordered_json actions;
  for (std::size_t a = 0; a < p.actions.size(); ++a)
    actions[fmt::format("{:+g}", profile.environment.actions[a] * profile.environment.max_contracts)] = p.actions[a];
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

/// A number, or "-" where there is none.
std::string cell(double value, int decimals, const char* unit = "") {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}{}", value, decimals, unit);
}

std::string performance_row(const std::string& name, const Performance& p) {
  return fmt::format("  {:<13}{:>11.2f}{:>11.2f}{:>10.2f}{:>8}{:>8}{:>8}{:>12.2f}{:>6}{:>9}{:>8}{:>9}\n", name, p.net,
                     p.gross, p.costs, p.trades, cell(p.sharpe, 2), cell(p.sortino, 2), p.max_drawdown,
                     cell(100 * p.hit_rate, 0, "%"), cell(p.mean_holding_minutes, 1),
                     cell(100 * p.time_in_market, 0, "%"), p.sessions);
}

/// The agent on both held-out splits, the baselines on the test split.
std::string performance_table(const Outcome& outcome) {
  std::string text = fmt::format("\n  {:<13}{:>11}{:>11}{:>10}{:>8}{:>8}{:>8}{:>12}{:>6}{:>9}{:>8}{:>9}\n", "held-out",
                                 "net $", "gross $", "costs $", "trades", "Sharpe", "Sortino", "drawdown $", "hit",
                                 "hold min", "in mkt", "sessions");
  text += performance_row("validation", outcome.validation) + performance_row("test", outcome.test);
  for (const BaselineResult& baseline : outcome.baselines) text += performance_row("  " + baseline.name, baseline.test);
  return text + fmt::format("  Sharpe and Sortino of {} trading periods on test, a year taken as {:.1f}\n",
                            outcome.test.periods, outcome.test.periods_per_year);
}

std::string action_rows(const RunSummary& s) {
  std::string text = "  actions on test (contracts: share)";
  for (std::size_t a = 0; a < s.outcome.test.actions.size(); ++a)
    text += fmt::format("  {:+g}: {:.0f}%", s.profile.environment.actions[a] * s.profile.environment.max_contracts,
                        100.0 * static_cast<double>(s.outcome.test.actions[a]) /
                            std::max<double>(1.0, static_cast<double>(s.outcome.test.steps)));
  return text + "\n";
}

double steps_per_second(const RunSummary& s) {
  return s.outcome.training_seconds > 0
             ? static_cast<double>(s.outcome.iterations * s.profile.training.gpu_n_episodes) /
                   s.outcome.training_seconds
             : 0.0;
}

}  // namespace

nlohmann::ordered_json summary_json(const RunSummary& s) {
  nlohmann::ordered_json json;
  json["profile"] = s.profile.name;
  json["reason"] = s.outcome.reason;
  json["device"] = s.device.description();
  json["data"] = s.market.source;
  json["seed"] = s.profile.run.seed.value();
  json["iterations"] = s.outcome.iterations;
  json["updates"] = s.outcome.updates;
  json["epochs"] = s.outcome.epochs;
  json["best_epoch"] = s.outcome.best_epoch;
  json["best_metric"] = s.outcome.best_metric;
  json["fingerprint"] = fmt::format("{:016x}", s.outcome.fingerprint);
  json["training_seconds"] = s.outcome.training_seconds;
  json["steps_per_second"] = steps_per_second(s);
  json["memory_bytes"] = s.trainer.memory_bytes();
  json["validation"] = to_json(s.outcome.validation, s.profile);
  json["test"] = to_json(s.outcome.test, s.profile);
  for (const BaselineResult& baseline : s.outcome.baselines)
    json["baselines"][baseline.name] = to_json(baseline.test, s.profile);
  json["periods_per_year"] = s.trainer.account().periods_per_year;
  json["phases"] = s.phases.to_json();
  json["total_seconds"] = s.phases.elapsed();
  json["checks"] = s.checks.to_json();
  return json;
}

std::string summary_text(const RunSummary& s) {
  std::string text = fmt::format("\n{}: {} after {} iterations, {} updates, {} epochs ({:.1f} s, {:.0f} steps/s)\n",
                                 s.profile.name, s.outcome.reason, s.outcome.iterations, s.outcome.updates,
                                 s.outcome.epochs, s.outcome.training_seconds, steps_per_second(s));
  if (s.outcome.test.sessions > 0) {
    text += performance_table(s.outcome) + action_rows(s);
    if (s.outcome.best_epoch >= 0)
      text += fmt::format("  best validation {} {:.4g} at epoch {}\n", s.profile.early_stopping.metric,
                          s.outcome.best_metric, s.outcome.best_epoch);
  }
  text += fmt::format("  parameters {:016x}\n\n{}", s.outcome.fingerprint, s.phases.table(s.phases.elapsed()));
  if (!s.checks.checks().empty()) text += "\n" + s.checks.table();
  return text + fmt::format("\nrun: {}\n", s.directory.path().string());
}

}  // namespace foxhunt::dqn
