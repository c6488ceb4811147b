#include "core/run/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace foxhunt::run {
namespace {

template <class Row>
std::size_t widest_name(const std::vector<Row>& rows, std::size_t at_least) {
  for (const Row& row : rows) at_least = std::max(at_least, row.name.size());
  return at_least;
}

}  // namespace

void PhaseTimer::add(std::string_view name, double seconds) {
  auto phase = std::find_if(phases_.begin(), phases_.end(), [&](const Phase& known) { return known.name == name; });
  if (phase == phases_.end()) phase = phases_.insert(phase, {std::string(name), 0, 0});
  ++phase->count;
  phase->seconds += seconds;
}

std::string PhaseTimer::table(double elapsed_seconds) const {
  const std::size_t width = widest_name(phases_, sizeof "(other)" - 1);
  const auto share = [&](double seconds) { return elapsed_seconds > 0 ? 100 * seconds / elapsed_seconds : 0; };
  std::string text = fmt::format("{:<{}}  {:>10}  {:>10}  {:>6}\n", "phase", width, "count", "seconds", "share");
  double other = elapsed_seconds;
  for (const Phase& phase : phases_) {
    text += fmt::format("{:<{}}  {:>10}  {:>10.3f}  {:>5.1f}%\n", phase.name, width, phase.count, phase.seconds,
                        share(phase.seconds));
    other -= phase.seconds;
  }
  text += fmt::format("{:<{}}  {:>10}  {:>10.3f}  {:>5.1f}%\n", "(other)", width, "", other, share(other));
  text += fmt::format("{:<{}}  {:>10}  {:>10.3f}\n", "total", width, "", elapsed_seconds);
  return text;
}

nlohmann::ordered_json PhaseTimer::to_json() const {
  auto object = nlohmann::ordered_json::object();
  for (const Phase& phase : phases_) object[phase.name] = {{"count", phase.count}, {"seconds", phase.seconds}};
  return object;
}

void CheckList::add(std::string name, bool passed, std::string detail, std::optional<double> value) {
  checks_.push_back({std::move(name), passed, std::move(detail), value});
}

bool CheckList::all_passed() const {
  return !checks_.empty() &&
         std::all_of(checks_.begin(), checks_.end(), [](const Check& check) { return check.passed; });
}

std::string CheckList::table() const {
  const std::size_t width = widest_name(checks_, 0);
  std::string text;
  for (const Check& check : checks_)
    text += fmt::format("{}  {:<{}}  {}\n", check.passed ? "PASS" : "FAIL", check.name, width, check.detail);
  return text;
}

nlohmann::ordered_json CheckList::to_json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Check& check : checks_) {
    nlohmann::ordered_json object = {{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}};
    object["value"] = check.value ? nlohmann::ordered_json(*check.value) : nlohmann::ordered_json(nullptr);
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace foxhunt::run
