#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace foxhunt::market {

/// The numbers of a feature table, by far the largest thing that is made of a market: never changed, so that copies
/// share them, and in memory or in a mapped file alike.
class FeatureValues {
 public:
  FeatureValues() = default;
  FeatureValues(std::vector<float> values) {
    const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
    values_ = *owner;
    owner_ = owner;
  }
  /// `values` lie in what `owner` keeps alive.
  FeatureValues(std::shared_ptr<const void> owner, std::span<const float> values)
      : owner_(std::move(owner)), values_(values) {}

  std::size_t size() const { return values_.size(); }
  const float* data() const { return values_.data(); }
  const float& operator[](std::size_t i) const { return values_[i]; }
  const float* begin() const { return values_.data(); }
  const float* end() const { return values_.data() + values_.size(); }

  friend bool operator==(const FeatureValues& a, const FeatureValues& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const float> values_;
};

}  // namespace foxhunt::market
