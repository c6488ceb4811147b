#include "core/alpha/block_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace foxhunt::alpha {
namespace {

/// weight[i]: how often row i lies in one of the blocks of a resample, which wrap around the end.
void draw(const BlockBootstrap& bootstrap, std::mt19937_64& engine, std::vector<std::uint32_t>& weight) {
  const auto rows = static_cast<std::size_t>(bootstrap.rows);
  std::fill(weight.begin(), weight.end(), 0);
  // First the change from row to row, which is modulo 2^32 as the weights are; then its running sum.
  for (std::size_t left = rows; left > 0;) {
    const std::size_t length = std::min(left, static_cast<std::size_t>(bootstrap.block));
    const auto start = static_cast<std::size_t>((engine() >> 32) * rows >> 32);
    ++weight[start];
    if (start + length < rows) --weight[start + length];
    if (start + length > rows) ++weight[0], --weight[start + length - rows];
    left -= length;
  }
  std::partial_sum(weight.begin(), weight.end(), weight.begin());
}

double normal_quantile(double tail) {
  double low = 0, high = 40;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

double bootstrap_error(const BlockBootstrap& bootstrap,
                       const std::function<double(std::span<const std::uint32_t>)>& statistic) {
  std::mt19937_64 engine(bootstrap.seed);
  std::vector<std::uint32_t> weight(static_cast<std::size_t>(bootstrap.rows));
  double mean = 0, squares = 0;  // Welford's
  for (int drawn = 0; drawn < bootstrap.resamples;) {
    draw(bootstrap, engine, weight);
    const double value = statistic(weight);
    if (std::isnan(value)) continue;
    const double away = value - mean;
    mean += away / ++drawn;
    squares += away * (value - mean);
  }
  return std::sqrt(squares / (bootstrap.resamples - 1));
}

double student_t_quantile(double tail, double degrees) {
  const double z = normal_quantile(tail), z2 = z * z, n = degrees;
  const double g1 = z * (z2 + 1) / 4;
  const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  const double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
  return z + (g1 + (g2 + (g3 + g4 / n) / n) / n) / n;
}

}  // namespace foxhunt::alpha
