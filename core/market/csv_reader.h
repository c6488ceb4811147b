#pragma once
#include <filesystem>

#include "core/market/reader.h"

namespace foxhunt::market {

/// Bars of a CSV file, plain or gzip, as ReadOptions::csv says. Oldest or newest row first. The bar interval is the
/// most common step from row to row. What was guessed is said in Bars::notes. Throws Error(data) that names file and
/// line for a row that cannot be read; rows that can but cannot be true are counted in Bars::rejects. Throws
/// Error(usage) for a time zone that there is not.
Bars read_csv_bars(const std::filesystem::path& file, const ReadOptions& options);

}  // namespace foxhunt::market
