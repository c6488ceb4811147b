#pragma once
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace foxhunt {

/// What the process returns to its caller; README and `--help` list the same numbers.
enum class ExitCode : int {
  ok = 0,
  check_failed = 1,  ///< a named smoketest check said FAIL
  usage = 2,         ///< command line or profile
  data = 3,          ///< a market file that is missing, damaged or too short
  device = 4,        ///< no such device, a failed call, too little memory
  numerics = 5,      ///< a non-finite value stopped the run
  time_budget = 6,
  storage = 7,  ///< disk full, read-only, unreadable checkpoint
  gate = 8,     ///< a model gate said FAIL and was asked to matter
  interrupted = 130,
  terminated = 143,
};

/// A failure whose message is one line for a person: what was wrong, where, what was expected, what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// The candidate nearest to `word` by edit distance, or "" when none is close enough to be a likely typo.
template <class Range>
std::string nearest_name(const std::string& word, const Range& candidates);

/// Levenshtein distance in characters. Takes a.size() * b.size() steps.
int edit_distance(const std::string& a, const std::string& b);

/// A text of a file as a message shows it: every byte that is not printable ASCII is a '?'.
std::string printable(std::string text);

template <class Range>
std::string nearest_name(const std::string& word, const Range& candidates) {
  std::string best;
  int best_distance = static_cast<int>(word.size()) / 2 + 1;
  for (const std::string& candidate : candidates) {
    // At least as far away as their lengths are apart: a word of a damaged file may be a megabyte long.
    if (std::abs(static_cast<long>(word.size()) - static_cast<long>(candidate.size())) >= best_distance) continue;
    const int distance = edit_distance(word, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

}  // namespace foxhunt
