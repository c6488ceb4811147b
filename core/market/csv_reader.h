#pragma once
#include <filesystem>

#include "core/market/tape.h"

namespace foxhunt::market {

/// Bars of a CSV file with a header that names time, open, high, low, close (volume, instrument_id, symbol where it has
/// them), or without a header in the order time, open, high, low, close, volume. Oldest or newest row first. The bar
/// interval is the most common step from row to row.
/// Throws Error(data) that names file and line for a row that cannot be read; rows that can but cannot be true are
/// counted in Bars::rejects.
Bars read_csv_bars(const std::filesystem::path& file, bool time_is_close);

}  // namespace foxhunt::market
