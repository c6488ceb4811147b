#pragma once
#include <algorithm>
#include <functional>
#include <vector>

#include "core/market/books.h"
#include "core/market/instrument_choice.h"

// What the readers of books and of trades do when all rows are there. A Table is either of the two.
namespace foxhunt::market {

/// Drops rows that are not kept, in place, and counts them.
template <class Table>
void keep_only(Table& table, const std::vector<char>& keep, const char* reason) {
  const auto dropped = std::count(keep.begin(), keep.end(), char{0});
  if (dropped == 0) return;
  table.rejects[reason] += dropped;
  each_column(table, [&](auto& column, std::size_t width) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) std::copy_n(column.data() + i * width, width, column.data() + to++ * width);
    column.truncate(to * width);
  });
}

/// Leaves one instrument at a time, the front contract, with times that ascend over all of them, and no spare room.
/// volume(row) is what traded in it.
template <class Table, class Volume>
void keep_one_instrument(Table& table, Volume volume) {
  const auto& ids = table.instrument;
  if (std::adjacent_find(ids.begin(), ids.end(), std::not_equal_to<>()) != ids.end()) {
    const auto keep =
        front_rows({{table.ts_recv.data(), table.rows()}, {ids.data(), ids.size()}, volume, table.symbols});
    keep_only(table, keep, "not the front contract");
  }
  if (!std::is_sorted(table.ts_recv.begin(), table.ts_recv.end())) {
    std::vector<char> keep(table.rows());
    std::int64_t latest = INT64_MIN;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      keep[i] = table.ts_recv[i] >= latest;
      latest = std::max(latest, table.ts_recv[i]);
    }
    keep_only(table, keep, "time goes backwards");
  }
  each_column(table, [](auto& column, std::size_t) { column.shrink_to_fit(); });
}

}  // namespace foxhunt::market
