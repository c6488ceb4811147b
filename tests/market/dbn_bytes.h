#pragma once
#include <zstd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/market/bar_collector.h"

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
};

/// Metadata with one symbol, ESH1, that maps to instrument 1.
inline std::string dbn_metadata_bytes(const DbnLayout& layout) {
  const std::size_t symbol = layout.version == 1 ? 22 : 71;
  std::string body;
  put_text(body, "GLBX.MDP3", 16);
  put(body, layout.schema);
  put(body, std::uint64_t{1}), put(body, UINT64_MAX), put(body, std::uint64_t{0});
  if (layout.version == 1) put(body, std::uint64_t{77});
  put(body, std::uint8_t{1}), put(body, std::uint8_t{0}), put(body, std::uint8_t{layout.ts_out});
  if (layout.version > 1) put(body, static_cast<std::uint16_t>(symbol));
  body.append(layout.version == 1 ? 47 : 53, '\0');
  put(body, std::uint32_t{0});
  put(body, std::uint32_t{1}), put_text(body, "ESH1", symbol);
  put(body, std::uint32_t{0}), put(body, std::uint32_t{0});
  put(body, std::uint32_t{1}), put_text(body, "ESH1", symbol);
  put(body, std::uint32_t{1}), put(body, std::uint32_t{20240108}), put(body, std::uint32_t{20240109}),
      put_text(body, "1", symbol);
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
