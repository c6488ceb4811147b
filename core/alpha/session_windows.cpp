#include <algorithm>

#include "core/alpha/dataset.h"

namespace foxhunt::alpha {

std::vector<market::Split> session_ranges(const Dataset& data, const market::Split& split) {
  std::vector<market::Split> ranges;
  for (std::int64_t row = split.begin; row < split.end; ++row) {
    const auto at = static_cast<std::size_t>(row);
    if (row == split.begin || data.session[at] != data.session[at - 1]) ranges.push_back({row, row});
    ranges.back().end = row + 1;
  }
  return ranges;
}

std::vector<std::int32_t> window_starts(const Dataset& data, const market::Split& split, int steps, int stride) {
  std::vector<std::int32_t> starts;
  for (const market::Split& range : session_ranges(data, split))
    for (std::int64_t row = range.begin; row + steps <= range.end; row += stride)
      starts.push_back(static_cast<std::int32_t>(row));
  return starts;
}

}  // namespace foxhunt::alpha
