#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace foxhunt::alpha {

/// The area under the ROC curve: the probability that a row of class 1 is scored above one of class 0, ties counting a
/// half (the Mann-Whitney statistic with mid-ranks). Sorts once, so that the AUC of many reweightings of the same rows,
/// which is what a bootstrap needs, takes one pass each.
class AucCounter {
 public:
  /// score [rows], finite; label [rows, stride], of which the first column counts: 0, 1, anything else is left out.
  AucCounter(std::span<const float> score, std::span<const std::uint8_t> label, std::size_t stride = 1);

  std::size_t labelled() const { return order_.size(); }
  /// NaN when a class is absent.
  double auc() const;
  /// Row i taken weight[i] times, [rows]. NaN when a class has no weight.
  double auc(std::span<const std::uint32_t> weight) const;

 private:
  struct Item {
    std::uint32_t row;
    bool up;    ///< class 1
    bool last;  ///< of the rows that share a score
  };
  template <class Weight>
  double area(Weight weight) const;

  std::vector<Item> order_;  ///< ascending by score
};

}  // namespace foxhunt::alpha
