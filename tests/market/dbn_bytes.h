#pragma once
#include <zstd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/market/bar_collector.h"
#include "core/market/books.h"

// DBN files by hand, field by field, independent of the writer under test.
namespace foxhunt::market {

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void put_text(std::string& bytes, const std::string& text, std::size_t size) {
  bytes += text;
  bytes.append(size - text.size(), '\0');
}

struct DbnLayout {
  std::uint8_t version = 3;
  std::uint16_t schema = 6;  // ohlcv-1m
  bool ts_out = false;
  std::vector<std::pair<std::string, std::uint32_t>> instruments{{"ESH1", 1}};
  std::size_t symbol_size = 71;  // version 2 and 3; the records' address depends on it
};

/// Metadata whose symbols are the instruments', each mapped to its id.
inline std::string dbn_metadata_bytes(const DbnLayout& layout) {
  const std::size_t symbol = layout.version == 1 ? 22 : layout.symbol_size;
  const auto count = static_cast<std::uint32_t>(layout.instruments.size());
  std::string body;
  put_text(body, "GLBX.MDP3", 16);
  put(body, layout.schema);
  put(body, std::uint64_t{1}), put(body, UINT64_MAX), put(body, std::uint64_t{0});
  if (layout.version == 1) put(body, std::uint64_t{77});
  put(body, std::uint8_t{1}), put(body, std::uint8_t{0}), put(body, std::uint8_t{layout.ts_out});
  if (layout.version > 1) put(body, static_cast<std::uint16_t>(symbol));
  body.append(layout.version == 1 ? 47 : 53, '\0');
  put(body, std::uint32_t{0});
  put(body, count);
  for (const auto& [name, id] : layout.instruments) put_text(body, name, symbol);
  put(body, std::uint32_t{0}), put(body, std::uint32_t{0});
  put(body, count);
  for (const auto& [name, id] : layout.instruments) {
    put_text(body, name, symbol);
    put(body, std::uint32_t{1}), put(body, std::uint32_t{20240108}), put(body, std::uint32_t{20240109});
    put_text(body, std::to_string(id), symbol);
  }
  if (layout.version == 3) body.append((8 - body.size() % 8) % 8, '\0');
  std::string bytes = "DBN";
  put(bytes, layout.version), put(bytes, static_cast<std::uint32_t>(body.size()));
  return bytes + body;
}

inline std::string dbn_bar_bytes(const Bar& bar, std::uint8_t rtype = 0x21, bool ts_out = false) {
  std::string bytes;
  put(bytes, std::uint8_t{static_cast<std::uint8_t>(ts_out ? 16 : 14)}), put(bytes, rtype),
      put(bytes, std::uint16_t{1});
  put(bytes, bar.instrument), put(bytes, bar.ts_open);
  put(bytes, bar.open), put(bytes, bar.high), put(bytes, bar.low), put(bytes, bar.close), put(bytes, bar.volume);
  if (ts_out) put(bytes, std::uint64_t{5});
  return bytes;
}

/// What trades, mbp and mbo records have in common.
struct Event {
  std::int64_t ts = 0;  ///< ts_event; received 5 ns later
  char action = 'A', side = 'B';
  std::int64_t price = 0;  ///< 1e-9 points
  std::uint32_t size = 1;
  std::uint8_t flags = 128;
  std::uint32_t instrument = 1;
  std::uint64_t order = 0;
};

inline void put_header(std::string& bytes, std::size_t size, std::uint8_t rtype, const Event& event) {
  put(bytes, static_cast<std::uint8_t>(size / 4)), put(bytes, rtype), put(bytes, std::uint16_t{1});
  put(bytes, event.instrument), put(bytes, event.ts);
}

/// A record of trades, or with levels of mbp-1 (one) or mbp-10 (ten).
inline std::string dbn_mbp_bytes(const Event& event, const std::vector<BookLevel>& levels, bool ts_out = false) {
  std::string bytes;
  const std::uint8_t rtype = levels.empty() ? 0x00 : levels.size() == 1 ? 0x01 : 0x0A;
  put_header(bytes, 48 + 32 * levels.size() + (ts_out ? 8 : 0), rtype, event);
  put(bytes, event.price), put(bytes, event.size), put(bytes, event.action), put(bytes, event.side);
  put(bytes, event.flags), put(bytes, std::uint8_t{0}), put(bytes, event.ts + 5);
  put(bytes, std::int32_t{5}), put(bytes, std::uint32_t{0});
  for (const BookLevel& level : levels) put(bytes, level);
  if (ts_out) put(bytes, std::uint64_t{7});
  return bytes;
}

inline std::string dbn_mbo_bytes(const Event& event) {
  std::string bytes;
  put_header(bytes, 56, 0xA0, event);
  put(bytes, event.order), put(bytes, event.price), put(bytes, event.size), put(bytes, event.flags);
  put(bytes, std::uint8_t{0}), put(bytes, event.action), put(bytes, event.side), put(bytes, event.ts + 5);
  put(bytes, std::int32_t{5}), put(bytes, std::uint32_t{0});
  return bytes;
}

/// A record of any type and length whose body is zeros.
inline std::string dbn_record_bytes(std::uint8_t rtype, std::uint8_t words) {
  std::string bytes;
  put(bytes, words), put(bytes, rtype);
  bytes.append(std::size_t{words} * 4 - 2, '\0');
  return bytes;
}

inline std::string dbn_file(const std::vector<Bar>& bars, const DbnLayout& layout = {}) {
  std::string bytes = dbn_metadata_bytes(layout);
  for (const Bar& bar : bars) bytes += dbn_bar_bytes(bar, 0x21, layout.ts_out);
  return bytes;
}

inline std::string zstd_frame(const std::string& bytes) {
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), 3));
  return frame;
}

inline std::string skippable_frame(const std::string& content) {
  std::string frame;
  put(frame, std::uint32_t{0x184D2A53}), put(frame, static_cast<std::uint32_t>(content.size()));
  return frame + content;
}

}  // namespace foxhunt::market
