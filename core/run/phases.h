#pragma once
#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::run {

/// Where the time of a run went. One thread; phases do not nest.
class PhaseTimer {
 public:
  using Clock = std::chrono::steady_clock;

  struct Phase {
    std::string name;
    std::int64_t count;
    double seconds;
  };

  /// Counts into its phase from construction to destruction.
  class Scope {
   public:
    Scope(PhaseTimer& timer, std::string_view name) : timer_(timer), name_(name), start_(Clock::now()) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { timer_.add(name_, std::chrono::duration<double>(Clock::now() - start_).count()); }

   private:
    PhaseTimer& timer_;
    std::string name_;
    Clock::time_point start_;
  };

  [[nodiscard]] Scope scope(std::string_view name) { return Scope(*this, name); }
  void add(std::string_view name, double seconds);

  /// In the order of their first use.
  const std::vector<Phase>& phases() const { return phases_; }
  /// Seconds since construction, in a phase or not.
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// Name, count, seconds and share of `elapsed_seconds` of each phase, then what no phase counted and the total; one a
  /// line.
  std::string table(double elapsed_seconds) const;
  /// {"name": {"count": n, "seconds": s}, ...}
  nlohmann::ordered_json to_json() const;

 private:
  Clock::time_point start_ = Clock::now();
  std::vector<Phase> phases_;
};

/// Named checks and how they went: what a smoke run is judged by.
class CheckList {
 public:
  struct Check {
    std::string name;
    bool passed;
    std::string detail;
    std::optional<double> value;
  };

  void add(std::string name, bool passed, std::string detail, std::optional<double> value = {});

  const std::vector<Check>& checks() const { return checks_; }
  /// False for an empty list too: nothing was checked.
  bool all_passed() const;

  /// "PASS  name  detail" a line.
  std::string table() const;
  /// [{"name": ..., "passed": ..., "detail": ..., "value": number, "NaN" ... or null}, ...]
  nlohmann::ordered_json to_json() const;

 private:
  std::vector<Check> checks_;
};

}  // namespace foxhunt::run
