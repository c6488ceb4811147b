#pragma once
#include <chrono>
#include <cstdint>
#include <memory>

#include "core/run/progress.h"

namespace foxhunt::app {

/// Draws how far market files are read on a terminal's standard error, once that has taken two seconds. For
/// ReadOptions::progress; copies share one line.
class ReadProgress {
 public:
  void operator()(std::uint64_t done, std::uint64_t total);

 private:
  struct State {
    run::Progress::Clock::time_point start = run::Progress::Clock::now();
    std::unique_ptr<run::Progress> line;
    std::uint64_t done = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace foxhunt::app
