#pragma once
#include <cstdint>
#include <cstring>
#include <string>

// Constants of the Databento Binary Encoding, versions 1 to 3.
namespace foxhunt::market::dbn {

inline constexpr std::size_t prefix_size = 8;  ///< "DBN", version, u32 metadata length
inline constexpr std::size_t record_header_size = 16;
inline constexpr std::size_t bar_size = 56, trade_size = 48, mbp1_size = 80, mbp10_size = 368, mbo_size = 56;
inline constexpr std::size_t fixed_metadata_size = 112;  ///< up to the symbol lists, prefix included
inline constexpr std::size_t symbol_size_v1 = 22, symbol_size = 71;
inline constexpr std::int64_t undefined_price = INT64_MAX;
inline constexpr std::uint64_t undefined_time = UINT64_MAX;
/// The year 2116: later times are taken as undefined, and a time plus an interval cannot overflow.
inline constexpr std::uint64_t latest_time = INT64_MAX / 2;

namespace schema {
inline constexpr std::uint16_t mbo = 0, mbp1 = 1, mbp10 = 2, tbbo = 3, trades = 4, ohlcv_1s = 5, ohlcv_1m = 6,
                               ohlcv_1h = 7, ohlcv_1d = 8, definition = 9, ohlcv_eod = 13, mixed = 0xFFFF;
}

namespace rtype {
inline constexpr std::uint8_t trade = 0x00, mbp1 = 0x01, mbp10 = 0x0A, definition = 0x13, symbol_mapping = 0x16,
                              ohlcv_1s = 0x20, ohlcv_eod = 0x24, mbo = 0xA0;
}

/// Bits of a record's flags.
namespace flag {
inline constexpr std::uint8_t last = 128, top_of_book = 64, snapshot = 32;
}

namespace stype {
inline constexpr std::uint8_t instrument_id = 0, raw_symbol = 1;
}

/// "ohlcv-1m", "mixed", or "schema 77" for a number that no version defines.
std::string schema_name(std::uint16_t schema);

/// "mbp-10", "ohlcv-1m", ..., or "" for a number that no version defines.
std::string record_name(std::uint8_t rtype);

/// The record's name, or "type 0x99" for a number that no version defines.
std::string record_label(std::uint8_t rtype);

inline bool is_bar(std::uint8_t rtype) { return rtype >= rtype::ohlcv_1s && rtype <= rtype::ohlcv_eod; }

/// ns that a bar of this record type spans; 0 when it is not a bar.
std::int64_t bar_interval(std::uint8_t rtype);

/// The record type and schema of bars of an interval in ns; 0 when DBN has none.
std::uint8_t bar_rtype(std::int64_t interval);
std::uint16_t bar_schema(std::int64_t interval);

/// A little-endian number at an address of any alignment.
template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace foxhunt::market::dbn
