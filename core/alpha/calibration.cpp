#include "core/alpha/calibration.h"

#include <algorithm>
#include <cmath>

namespace foxhunt::alpha {
namespace {

double log_loss(double probability_of_what_came) { return -std::log(std::max(probability_of_what_came, 1e-7)); }

CalibrationBin& bin_of(Calibration& result, double probability) {
  return result.bins[std::min<std::size_t>(static_cast<std::size_t>(probability * 10), 9)];
}

}  // namespace

Calibration calibrate(std::span<const float> probability, std::span<const std::uint8_t> label, std::size_t stride) {
  Calibration result;
  for (std::size_t i = 0; i < label.size(); i += stride) {
    if (label[i] > 1) continue;
    const double p = probability[i], y = label[i];
    ++result.labels;
    result.up += label[i];
    result.brier += (p - y) * (p - y);
    result.log_loss += log_loss(label[i] ? p : 1 - p);
    CalibrationBin& bin = bin_of(result, p);
    ++bin.labels;
    bin.probability += p;
    bin.observed += y;
  }
  if (result.labels == 0) return result;
  const auto labels = static_cast<double>(result.labels);
  result.brier /= labels;
  result.log_loss /= labels;
  for (CalibrationBin& bin : result.bins) {
    if (bin.labels == 0) continue;
    result.calibration_error += std::abs(bin.probability - bin.observed) / labels;
    bin.probability /= static_cast<double>(bin.labels);
    bin.observed /= static_cast<double>(bin.labels);
  }
  return result;
}

Calibration calibrate_constant(double probability, std::int64_t labels, std::int64_t up) {
  Calibration result;
  result.labels = labels;
  result.up = up;
  if (labels == 0) return result;
  const double observed = static_cast<double>(up) / static_cast<double>(labels);
  const double miss = 1 - probability;
  result.brier = observed * miss * miss + (1 - observed) * probability * probability;
  result.log_loss = observed * log_loss(probability) + (1 - observed) * log_loss(miss);
  result.calibration_error = std::abs(probability - observed);
  bin_of(result, probability) = {labels, probability, observed};
  return result;
}

}  // namespace foxhunt::alpha
