#include "core/alpha/summary.h"

#include <fmt/format.h>

namespace foxhunt::alpha {
namespace {

nlohmann::ordered_json to_json(const Scores& s) {
  return {{"loss", s.loss}, {"mean_auc", s.mean_auc}, {"auc", s.auc}, {"log_loss", s.log_loss}};
}

double snapshots_per_second(const RunSummary& s) {
  const auto snapshots = static_cast<double>(s.outcome.iterations * s.profile.alpha.windows * s.profile.alpha.steps);
  return s.outcome.training_seconds > 0 ? snapshots / s.outcome.training_seconds : 0.0;
}

std::string scores_row(const std::string& name, const Scores& s) {
  std::string row = fmt::format("  {:<12}{:>9.4f}{:>10.4f}", name, s.loss, s.mean_auc);
  for (const double auc : s.auc) row += fmt::format("{:>12.4f}", auc);
  return row + "\n";
}

std::string scores_table(const RunSummary& s) {
  std::string text = fmt::format("\n  {:<12}{:>9}{:>10}", "held-out", "loss", "mean AUC");
  for (const Horizon& horizon : s.data.horizons) text += fmt::format("{:>12}", horizon.text());
  return text + "\n" + scores_row("validation", s.outcome.validation) + scores_row("test", s.outcome.test) + "\n";
}

}  // namespace

nlohmann::ordered_json summary_json(const RunSummary& s) {
  nlohmann::ordered_json json;
  json["profile"] = s.profile.name;
  json["model"] = s.profile.model;
  json["reason"] = s.outcome.reason;
  json["device"] = s.device.description();
  json["data"] = s.data.source;
  json["seed"] = s.profile.run.seed.value();
  json["iterations"] = s.outcome.iterations;
  json["updates"] = s.outcome.updates;
  json["epochs"] = s.outcome.epochs;
  json["metric"] = s.outcome.metric;
  json["best_epoch"] = s.outcome.best_epoch;
  json["best_metric"] = s.outcome.best_metric;
  json["fingerprint"] = fmt::format("{:016x}", s.outcome.fingerprint);
  json["training_seconds"] = s.outcome.training_seconds;
  json["steps_per_second"] = snapshots_per_second(s);
  json["memory_bytes"] = s.trainer.memory_bytes();
  json["training_windows"] = s.trainer.training_windows();
  if (s.outcome.best_epoch >= 0) json["validation"] = to_json(s.outcome.validation);
  if (s.outcome.gate) {
    json["test"] = to_json(s.outcome.test);
    json["gate"] = {{"passed", s.outcome.gate->passed()}, {"horizons_passed", s.outcome.gate->horizons_passed()}};
  }
  json["phases"] = s.phases.to_json();
  json["total_seconds"] = s.phases.elapsed();
  json["checks"] = s.checks.to_json();
  return json;
}

std::string summary_text(const RunSummary& s) {
  std::string text = fmt::format("\n{}: {} after {} iterations, {} updates, {} epochs ({:.1f} s, {:.0f} snapshots/s)\n",
                                 s.profile.name, s.outcome.reason, s.outcome.iterations, s.outcome.updates,
                                 s.outcome.epochs, s.outcome.training_seconds, snapshots_per_second(s));
  if (s.outcome.gate) {
    text += scores_table(s);
    for (const std::string& line : s.outcome.gate->words()) text += "  " + line + "\n";
    text += fmt::format("  best validation {} {:.4f} at epoch {}\n", s.profile.alpha.metric,
                        s.profile.alpha.metric == "loss" ? s.outcome.validation.loss : s.outcome.validation.mean_auc,
                        s.outcome.best_epoch);
  }
  text += fmt::format("  parameters {:016x}\n\n{}", s.outcome.fingerprint, s.phases.table(s.phases.elapsed()));
  if (!s.checks.checks().empty()) text += "\n" + s.checks.table();
  return text + fmt::format("\nrun: {}\n", s.directory.path().string());
}

}  // namespace foxhunt::alpha
