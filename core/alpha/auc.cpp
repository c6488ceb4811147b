#include "core/alpha/auc.h"

#include <algorithm>
#include <limits>

namespace foxhunt::alpha {

AucCounter::AucCounter(std::span<const float> score, std::span<const std::uint8_t> label, std::size_t stride) {
  for (std::size_t i = 0; i < label.size(); i += stride)
    if (label[i] <= 1) order_.push_back({static_cast<std::uint32_t>(i / stride), label[i] == 1, true});
  const auto score_of = [&](const Item& item) { return score[item.row * stride]; };
  std::sort(order_.begin(), order_.end(), [&](const Item& a, const Item& b) { return score_of(a) < score_of(b); });
  for (std::size_t k = 0; k + 1 < order_.size(); ++k) order_[k].last = score_of(order_[k]) < score_of(order_[k + 1]);
}

template <class Weight>
double AucCounter::area(Weight weight) const {
  std::uint64_t ups = 0, downs = 0, twice_won = 0;
  std::uint64_t ups_here = 0, downs_here = 0;  // of the score that is being read
  for (const Item& item : order_) {
    (item.up ? ups_here : downs_here) += weight(item.row);
    if (!item.last) continue;
    twice_won += ups_here * (2 * downs + downs_here);
    ups += ups_here, downs += downs_here;
    ups_here = downs_here = 0;
  }
  if (ups == 0 || downs == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(twice_won) / (2 * static_cast<double>(ups) * static_cast<double>(downs));
}

double AucCounter::auc() const {
  return area([](std::uint32_t) { return 1U; });
}

double AucCounter::auc(std::span<const std::uint32_t> weight) const {
  return area([=](std::uint32_t row) { return weight[row]; });
}

}  // namespace foxhunt::alpha
