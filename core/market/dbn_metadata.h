#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/market/byte_source.h"
#include "core/market/dbn_format.h"

namespace foxhunt::market {

/// Which instrument a symbol meant, between two dates.
struct DbnMapping {
  std::string symbol;
  std::uint32_t start = 0, end = 0;  ///< YYYYMMDD, end exclusive
  std::string mapped;                ///< e.g. the instrument id in decimal
};

struct DbnMetadata {
  std::uint8_t version = 3;
  std::string dataset;
  std::uint16_t schema = dbn::schema::mixed;
  std::uint64_t start = 0, end = dbn::undefined_time, limit = 0;
  std::uint8_t stype_in = dbn::stype::raw_symbol, stype_out = dbn::stype::instrument_id;
  bool ts_out = false;
  std::vector<std::string> symbols;
  std::vector<DbnMapping> mappings;
  std::uint64_t records_at = 0;  ///< byte of the first record in the (decompressed) stream
};

/// Reads up to the first record. Every size in it is checked against the bytes that are there before it is believed.
/// Throws Error(data): not DBN, an unknown version, lengths that lie.
DbnMetadata read_dbn_metadata(ByteSource& source);

}  // namespace foxhunt::market
