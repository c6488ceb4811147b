#include "app/read_progress.h"

namespace foxhunt::app {

void ReadProgress::operator()(std::uint64_t done, std::uint64_t total) {
  using run::Progress;
  constexpr auto patience = std::chrono::seconds(2);
  constexpr std::int64_t mib = 1 << 20;
  State& state = *state_;
  if (done < state.done) state.line.reset(), state.start = Progress::Clock::now();  // another file
  state.done = done;
  const auto at = static_cast<std::int64_t>(done) / mib, end = static_cast<std::int64_t>(total) / mib;
  if (!state.line && Progress::Clock::now() - state.start > patience && done < total &&
      Progress::style_for(stderr, false) == run::ProgressStyle::live)
    state.line = std::make_unique<Progress>(run::ProgressStyle::live, "MiB", at, end);
  if (!state.line) return;
  if (done < total) return state.line->update(at, {});
  state.line->finish(at, {});
  state.line.reset();
}

}  // namespace foxhunt::app
