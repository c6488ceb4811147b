#include "core/dqn/summary.h"

#include <fmt/format.h>

#include <cmath>

namespace foxhunt::dqn {
namespace {

nlohmann::ordered_json to_json(const Performance& p, const profile::Profile& profile) {
  nlohmann::ordered_json actions;
  for (std::size_t a = 0; a < p.actions.size(); ++a)
    actions[fmt::format("{:+g}", profile.environment.actions[a] * profile.environment.max_contracts)] = p.actions[a];
  return {{"net_pnl", p.net},       {"gross_pnl", p.gross},
          {"costs", p.costs},       {"trades", p.trades},
          {"sharpe", p.sharpe},     {"max_drawdown", p.max_drawdown},
          {"sessions", p.sessions}, {"steps", p.steps},
          {"actions", actions},     {"action_entropy", p.action_entropy}};
}

std::string performance_row(const char* name, const Performance& p) {
  return fmt::format("  {:<11}{:>12.2f}{:>12.2f}{:>12.2f}{:>9}{:>9}{:>12.2f}{:>10}\n", name, p.net, p.gross, p.costs,
                     p.trades, std::isfinite(p.sharpe) ? fmt::format("{:.2f}", p.sharpe) : "n/a", p.max_drawdown,
                     p.sessions);
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
    text += fmt::format(
        "\n  held-out        net $      gross $     costs $   trades   Sharpe  drawdown $  sessions\n{}{}{}",
        performance_row("validation", s.outcome.validation), performance_row("test", s.outcome.test), action_rows(s));
    if (s.outcome.best_epoch >= 0)
      text += fmt::format("  best validation {} {:.4g} at epoch {}\n", s.profile.early_stopping.metric,
                          s.outcome.best_metric, s.outcome.best_epoch);
  }
  text += fmt::format("  parameters {:016x}\n\n{}", s.outcome.fingerprint, s.phases.table(s.phases.elapsed()));
  if (!s.checks.checks().empty()) text += "\n" + s.checks.table();
  return text + fmt::format("\nrun: {}\n", s.directory.path().string());
}

}  // namespace foxhunt::dqn
