#pragma once
#include <string>
#include <vector>

#include "core/market/reader.h"
#include "tests/market/dbn_bytes.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {

/// `depth` levels around best prices in points, one point apart, with sizes that tell them apart.
inline std::vector<BookLevel> ladder(std::int64_t bid, std::int64_t ask, std::size_t depth = 10) {
  std::vector<BookLevel> levels(depth);
  for (std::size_t i = 0; i < depth; ++i) {
    const auto k = static_cast<std::int64_t>(i);
    const auto n = static_cast<std::uint32_t>(i);
    levels[i] = {(bid - k) * point, (ask + k) * point, 10 + n, 30 + n, 1 + n, 2 + n};
  }
  return levels;
}

inline Event event_at(std::int64_t seconds, std::uint32_t instrument = 1) {
  Event event;
  event.ts = monday + seconds * ns_per_second, event.instrument = instrument;
  return event;
}

inline Event trade_at(std::int64_t seconds, char side, std::int64_t price, std::uint32_t size,
                      std::uint32_t instrument = 1) {
  Event event = event_at(seconds, instrument);
  event.action = 'T', event.side = side, event.price = price * point, event.size = size, event.flags = 0;
  return event;
}

/// A file of mbp-10 snapshots, one second apart.
inline std::string book_file(std::size_t rows, const DbnLayout& layout = {3, 2, false}) {
  std::string bytes = dbn_metadata_bytes(layout);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto k = static_cast<std::int64_t>(i);
    bytes += dbn_mbp_bytes(event_at(k), ladder(100 + k, 101 + k), layout.ts_out);
  }
  return bytes;
}

inline Books books_of(const std::string& bytes, const ReadOptions& options = {},
                      const std::string& name = "books.dbn") {
  const test::TemporaryFolder folder;
  write_text(folder / name, bytes);
  return read_books(folder / name, options);
}

inline bool same_rows(const Books& a, const Books& b) {
  return a.levels == b.levels && a.level == b.level && a.ts_event == b.ts_event && a.ts_recv == b.ts_recv &&
         a.trade_price == b.trade_price && a.buy_volume == b.buy_volume && a.sell_volume == b.sell_volume &&
         a.instrument == b.instrument;
}

/// Whether a holds the first rows of b, and nothing else.
inline bool is_start_of(const Books& a, Books b) {
  if (a.rows() > b.rows()) return false;
  each_column(b, [&](auto& column, std::size_t width) { column.truncate(a.rows() * width); });
  return same_rows(a, b);
}

}  // namespace foxhunt::market
