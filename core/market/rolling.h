#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace foxhunt::market {

/// One number a row.
using Series = std::vector<double>;

/// Half-open range of rows of one instrument; windows start afresh in each.
struct Run {
  std::size_t begin = 0, end = 0;
};

/// op over the last `window` rows of the run, or over those there are. An associative op is all it takes, for nothing
/// is ever subtracted: each window is the end of one block of `window` rows and the start of the next (van Herk, 1992),
/// so a sum does not drift however long the column is, and a row sees no later one.
template <class Op>
Series rolling(const Series& x, std::size_t window, const std::vector<Run>& runs, double identity, Op op) {
  Series result(x.size());
  Series tail(window + 1);  // tail[k]: the block before, from its k-th row on
  for (const Run& run : runs) {
    std::fill(tail.begin(), tail.end(), identity);
    for (std::size_t block = run.begin; block < run.end; block += window) {
      const std::size_t size = std::min(window, run.end - block);
      double head = identity;
      for (std::size_t k = 0; k < size; ++k) {
        head = op(head, x[block + k]);
        result[block + k] = op(tail[k + 1], head);
      }
      if (size < window) break;
      for (std::size_t k = window; k-- > 0;) tail[k] = op(x[block + k], tail[k + 1]);
    }
  }
  return result;
}

inline Series rolling_sum(const Series& x, std::size_t window, const std::vector<Run>& runs) {
  return rolling(x, window, runs, 0.0, [](double a, double b) { return a + b; });
}
inline Series rolling_max(const Series& x, std::size_t window, const std::vector<Run>& runs) {
  return rolling(x, window, runs, -std::numeric_limits<double>::infinity(),
                 [](double a, double b) { return std::max(a, b); });
}
inline Series rolling_min(const Series& x, std::size_t window, const std::vector<Run>& runs) {
  return rolling(x, window, runs, std::numeric_limits<double>::infinity(),
                 [](double a, double b) { return std::min(a, b); });
}

/// Mean of the last `window` rows of the run, or of those there are.
inline Series rolling_mean(const Series& x, std::size_t window, const std::vector<Run>& runs) {
  Series mean = rolling_sum(x, window, runs);
  for (const Run& run : runs)
    for (std::size_t i = run.begin; i < run.end; ++i)
      mean[i] /= static_cast<double>(std::min(window, i - run.begin + 1));
  return mean;
}

/// Exponential average that starts at the run's first value: y += weight (x - y).
inline Series exponential_mean(const Series& x, double weight, const std::vector<Run>& runs) {
  Series mean(x.size());
  for (const Run& run : runs) {
    double y = x[run.begin];
    for (std::size_t i = run.begin; i < run.end; ++i) mean[i] = y += weight * (x[i] - y);
  }
  return mean;
}

}  // namespace foxhunt::market
