#pragma once
#include <filesystem>
#include <string>

#include "core/market/tape.h"

namespace foxhunt::market {

/// The same bars as CSV: ts_event (ISO 8601, UTC, the bar's start), instrument_id, open, high, low, close, volume,
/// symbol, then the extra columns by their names.
std::string encode_csv(const Bars& bars);

/// Writes it whole or not at all.
void write_csv(const Bars& bars, const std::filesystem::path& file);

}  // namespace foxhunt::market
