#include "core/dqn/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/dqn/performance_report.h"

namespace foxhunt::dqn {
namespace {

/// The agent on both held-out splits, the baselines on the test split.
std::string performance_table(const Outcome& outcome) {
  std::string text = "\n" + performance_header("held-out");
  text += performance_row("validation", outcome.validation) + performance_row("test", outcome.test);
  for (const BaselineResult& baseline : outcome.baselines) text += performance_row("  " + baseline.name, baseline.test);
  return text + fmt::format("  Sharpe and Sortino of {} trading periods on test, a year taken as {:.1f}\n",
                            outcome.test.periods, outcome.test.periods_per_year);
}

std::string action_rows(const RunSummary& s) {
  std::string text = "  actions on test (contracts: share)";
  const std::vector<double> positions = action_positions(s.profile);
  for (std::size_t a = 0; a < s.outcome.test.actions.size(); ++a)
    text += fmt::format("  {:+g}: {:.0f}%", positions[a],
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
  const std::vector<double> positions = action_positions(s.profile);
  nlohmann::ordered_json json;
  json["profile"] = s.profile.name;
  json["reason"] = s.outcome.reason;
  json["device"] = s.device.description();
  json["data"] = s.market.source;
  if (!s.market.book_model.empty()) {
    auto& saw_test = json["alpha_saw_test"] = nullptr;
    if (s.market.foresight.saw_test) saw_test = *s.market.foresight.saw_test;
  }
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
  json["validation"] = performance_json(s.outcome.validation, positions);
  json["test"] = performance_json(s.outcome.test, positions);
  for (const BaselineResult& baseline : s.outcome.baselines)
    json["baselines"][baseline.name] = performance_json(baseline.test, positions);
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
