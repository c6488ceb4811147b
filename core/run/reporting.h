#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/run/metrics_record.h"
#include "core/run/phases.h"
#include "core/run/progress.h"
#include "core/run/run_directory.h"

namespace foxhunt::run {

/// Where a trainer leaves what it comes to. Each part may be absent.
struct Reporting {
  MetricsRecord* metrics = nullptr;
  Progress* progress = nullptr;
  PhaseTimer* phases = nullptr;
  const RunDirectory* directory = nullptr;  ///< receives checkpoints; none: nothing is written
  /// Asked between iterations: true ends the run there, saved, as a signal does. None: a signal alone does.
  std::function<bool(std::int64_t iteration)> stop_asked{};

  /// Times what happens until the scope ends.
  [[nodiscard]] PhaseTimer::Scope phase(std::string_view name) const {
    static PhaseTimer unwatched;
    return phases ? phases->scope(name) : unwatched.scope(name);
  }
};

}  // namespace foxhunt::run
