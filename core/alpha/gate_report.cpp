// What the gate tells people and programs.
#include <fmt/format.h>

#include "core/alpha/gate.h"

namespace foxhunt::alpha {
namespace {

nlohmann::ordered_json to_json(const Calibration& c) {
  return {{"brier", c.brier}, {"log_loss", c.log_loss}, {"calibration_error", c.calibration_error}};
}

nlohmann::ordered_json bins_json(const Calibration& calibration) {
  nlohmann::ordered_json bins = nlohmann::ordered_json::array();
  for (std::size_t b = 0; b < calibration.bins.size(); ++b) {
    const CalibrationBin& bin = calibration.bins[b];
    nlohmann::ordered_json json{{"from", static_cast<double>(b) / 10}, {"labels", bin.labels}};
    if (bin.labels) json["probability"] = bin.probability, json["observed"] = bin.observed;
    bins.push_back(json);
  }
  return bins;
}

nlohmann::ordered_json to_json(const HorizonGate& gate) {
  nlohmann::ordered_json criteria = nlohmann::ordered_json::array();
  for (const Criterion& c : gate.criteria)
    criteria.push_back({{"name", c.name},
                        {"asks", c.words},
                        {"value", c.value},
                        {c.above ? "above" : "below", c.threshold},
                        {"passed", c.passed()}});
  return {{"horizon", gate.horizon},
          {"passed", gate.passed()},
          {"labels", gate.labels},
          {"up", gate.up},
          {"independent_labels", gate.independent_labels},
          {"base_rate", gate.base_rate},
          {"auc", gate.auc},
          {"auc_error", gate.auc_error},
          {"auc_low", gate.auc_low},
          {"auc_high", gate.auc_high},
          {"block_rows", gate.block},
          {"model", to_json(gate.model)},
          {"base", to_json(gate.base)},
          {"criteria", criteria},
          {"calibration", bins_json(gate.model)}};
}

std::string table_line(const HorizonGate& gate) {
  return fmt::format("{:>10} {:>8} {:>8.0f} {:>6.3f} {:>6.3f} {:>15} {:>7.4f} {:>7.4f} {:>7.4f} {:>7.4f} {:>6.3f}  {}",
                     gate.horizon, gate.labels, gate.independent_labels, gate.base_rate, gate.auc,
                     fmt::format("{:.3f} to {:.3f}", gate.auc_low, gate.auc_high), gate.model.brier, gate.base.brier,
                     gate.model.log_loss, gate.base.log_loss, gate.model.calibration_error,
                     gate.passed() ? "pass" : "fail");
}

}  // namespace

std::string GateResult::rule() const {
  return fmt::format(
      "PASS when at least {} of {} horizons fulfil{} every criterion; the bounds of all AUCs hold "
      "together with a confidence of {:g}%",
      options.min_horizons, alpha_horizons, options.min_horizons == 1 ? "s" : "", 100 * options.confidence);
}

nlohmann::ordered_json GateResult::json() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const HorizonGate& gate : horizons) list.push_back(to_json(gate));
  return {{"passed", passed()},
          {"verdict", passed() ? "PASS" : "FAIL"},
          {"rule", rule()},
          {"horizons_passed", horizons_passed()},
          {"min_horizons", options.min_horizons},
          {"confidence", options.confidence},
          {"resamples", options.resamples},
          {"seed", options.seed},
          {"horizons", list}};
}

std::vector<std::string> GateResult::words() const {
  std::vector<std::string> lines{fmt::format("{:>10} {:>8} {:>8} {:>6} {:>6} {:>15} {:>7} {:>7} {:>7} {:>7} {:>6}",
                                             "horizon", "labels", "indep.", "base", "AUC", "bounds", "Brier", "of base",
                                             "logloss", "of base", "calib.")};
  for (const HorizonGate& gate : horizons) lines.push_back(table_line(gate));
  for (const HorizonGate& gate : horizons)
    for (const Criterion& c : gate.criteria)
      if (!c.passed())
        lines.push_back(fmt::format("{} fails: {}; it is {:.4f}, not {} {:.4f}", gate.horizon, c.words, c.value,
                                    c.above ? "above" : "below", c.threshold));
  lines.push_back(fmt::format("gate: {}: {} of {} horizons fulfil every criterion ({})", passed() ? "PASS" : "FAIL",
                              horizons_passed(), alpha_horizons, rule()));
  return lines;
}

}  // namespace foxhunt::alpha
