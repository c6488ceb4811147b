#pragma once
#include <filesystem>

#include "core/market/reader.h"

namespace foxhunt::market {

/// Whether a CSV file is one of books: its header names a best bid and a best ask. Throws Error(data) for a file that
/// cannot be opened.
bool is_csv_book(const std::filesystem::path& file, const ReadOptions& options);

/// Books of a CSV file, plain or gzip, with a header as Databento writes it (bid_px_00, ask_px_00, bid_sz_00,
/// ask_sz_00, bid_ct_00, ... up to _09; ts_recv, ts_event, action, side, price, size, instrument_id, symbol), or of
/// best prices alone under their usual names (bid, ask, bid_size, ask_size). Prices are decimal, or in 1e-9 units in
/// Databento's own layout. Oldest row first. One level unless the header names a second: then ten, of which those
/// without columns are undefined. Sizes that the file does not have count as 1, counts as 0. Throws Error(data) that
/// names file and line for a row that cannot be read.
Books read_csv_books(const std::filesystem::path& file, const ReadOptions& options);

}  // namespace foxhunt::market
