#pragma once
#include <cstdint>
#include <functional>
#include <span>

namespace foxhunt::alpha {

/// The circular block bootstrap (Politis & Romano 1992) of rows in time order: a resample puts blocks of neighbouring
/// rows together, so that what depends on its neighbours keeps doing so.
struct BlockBootstrap {
  std::int64_t rows = 0;   ///< 1 or more
  std::int64_t block = 1;  ///< rows of a block, 1 to rows
  int resamples = 1000;    ///< 2 or more
  std::uint64_t seed = 1;  ///< the same seed gives the same resamples, on every platform
};

/// Standard deviation of `statistic` over the resamples; it is given how many times each row was drawn, [rows]. A
/// resample of which it is NaN is drawn again.
double bootstrap_error(const BlockBootstrap& bootstrap,
                       const std::function<double(std::span<const std::uint32_t>)>& statistic);

/// The value that Student's t with so many degrees of freedom exceeds with probability `tail`, 0 < tail < 0.5; good to
/// 1% for 8 degrees and more (Abramowitz & Stegun 26.7.5).
double student_t_quantile(double tail, double degrees);

}  // namespace foxhunt::alpha
