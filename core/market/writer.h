#pragma once
#include <filesystem>

#include "core/market/books.h"
#include "core/market/tape.h"

namespace foxhunt::market {

/// Throws Error(usage) for a file name that ends in none of .dbn, .dbn.zst and .csv.
void check_market_file_name(const std::filesystem::path& file);

/// Writes bars whole or not at all, in the format that the name asks for: .dbn, .dbn.zst or .csv.
/// Throws Error(usage) for another name, or DBN for bars with extra columns; Error(storage) when writing fails.
void write_bars(const Bars& bars, const std::filesystem::path& file);

/// The same of books.
void write_books(const Books& books, const std::filesystem::path& file);

}  // namespace foxhunt::market
