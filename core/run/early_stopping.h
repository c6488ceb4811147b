#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "core/profile/profile.h"

namespace foxhunt::run {

/// Watches a metric, higher is better, and says when it has stopped improving. Pure logic; once stopped it stays so.
class EarlyStopping {
 public:
  enum class Decision { improved, no_improvement, stop };
  enum class Reason : std::int32_t { none = 0, patience = 1, not_finite = 2 };

  /// All there is to save and restore beside the two settings.
  struct State {
    double best = -std::numeric_limits<double>::infinity();  ///< finite from the first improvement on
    double last = 0;                                         ///< metric of the latest evaluation
    std::int64_t best_index = -1;                            ///< evaluation of `best`, from 0; -1: none yet
    std::int64_t evaluations = 0;
    Reason reason = Reason::none;  ///< anything else: stopped
  };

  /// Stops after `patience` evaluations in a row (at least 1) that did not gain more than `min_delta` over the best.
  EarlyStopping(std::int64_t patience, double min_delta);
  /// As a profile wants it; where that has it off, patience never runs out.
  explicit EarlyStopping(const profile::Profile::EarlyStopping& options);

  /// A NaN or infinite metric stops at once and is never the best.
  Decision update(double metric);

  bool stopped() const { return state_.reason != Reason::none; }
  double best() const { return state_.best; }
  std::int64_t best_index() const { return state_.best_index; }
  /// Why it stopped, for a person; "" before.
  std::string reason_text() const;

  const State& state() const { return state_; }
  /// A stop for want of patience is weighed anew by the patience of this object.
  void restore(const State& state);

 private:
  std::int64_t patience_;
  double min_delta_;
  State state_;
};

}  // namespace foxhunt::run
