#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace foxhunt::alpha {

/// Labels whose probability lies in one tenth of [0, 1]; the last one includes 1.
struct CalibrationBin {
  std::int64_t labels = 0;
  double probability = 0;  ///< mean; 0 without labels
  double observed = 0;     ///< share of class 1; 0 without labels
};

/// How good probabilities are as such: proper scores (Gneiting & Raftery 2007), lower is better, and calibration.
struct Calibration {
  std::int64_t labels = 0, up = 0;
  double brier = 0;     ///< mean (p - y)^2
  double log_loss = 0;  ///< mean -log of the probability of what came, which is taken as 1e-7 at least
  std::array<CalibrationBin, 10> bins;
  double calibration_error = 0;  ///< mean over labels of |mean probability - observed share| of their bin
};

/// probability and label [rows, stride], of which the first columns count; labels other than 0 and 1 are left out.
Calibration calibrate(std::span<const float> probability, std::span<const std::uint8_t> label, std::size_t stride = 1);

/// Of one probability for all `labels`, of which `up` are of class 1. Its bins are empty but one.
Calibration calibrate_constant(double probability, std::int64_t labels, std::int64_t up);

}  // namespace foxhunt::alpha
