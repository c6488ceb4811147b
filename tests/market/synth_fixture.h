#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/market/synth.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {

/// Seeds of as many markets as a statistic is taken over; the first is the printed one.
inline std::vector<std::uint64_t> market_seeds(std::size_t count) {
  std::vector<std::uint64_t> seeds(count);
  for (std::size_t i = 0; i < count; ++i) seeds[i] = test::seed() + i;
  return seeds;
}

/// Pearson's correlation of pairs added one by one.
class Correlation {
 public:
  void add(double x, double y) { ++n_, x_ += x, y_ += y, xx_ += x * x, yy_ += y * y, xy_ += x * y; }
  double value() const { return (n_ * xy_ - x_ * y_) / std::sqrt((n_ * xx_ - x_ * x_) * (n_ * yy_ - y_ * y_)); }
  /// Of the estimate, where the truth is none.
  double standard_error() const { return 1 / std::sqrt(n_); }

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

/// How often something was so, of how many times.
class Share {
 public:
  void add(bool so) { ++n_, so_ += so; }
  double value() const { return so_ / n_; }
  double count() const { return n_; }
  /// Of the estimate, where the truth is p.
  double standard_error(double p) const { return std::sqrt(p * (1 - p) / n_); }

 private:
  double n_ = 0, so_ = 0;
};

}  // namespace foxhunt::market
