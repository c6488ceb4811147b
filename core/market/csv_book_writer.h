#pragma once
#include <filesystem>
#include <string>

#include "core/market/books.h"

namespace foxhunt::market {

/// The same books as CSV, in the columns that read_csv_books names: ts_recv and ts_event (ISO 8601, UTC),
/// instrument_id, action, side, price, size, then for each level bid_px_00, ask_px_00, bid_sz_00, ask_sz_00, bid_ct_00,
/// ask_ct_00, then symbol. Prices are decimal, undefined ones empty. Throws Error(data) as encode_dbn_books does.
std::string encode_csv_books(const Books& books);

/// Writes it whole or not at all.
void write_csv_books(const Books& books, const std::filesystem::path& file);

}  // namespace foxhunt::market
