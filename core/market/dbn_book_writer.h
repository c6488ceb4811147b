#pragma once
#include <filesystem>
#include <string>

#include "core/market/books.h"

namespace foxhunt::market {

/// The bytes of a DBN v3 file of these books, schema mbp-10 (of one level: mbp-1), uncompressed; dataset and mappings
/// as encode_dbn. Throws Error(data) for no row, and for a row that one record cannot say; see trade_of.
std::string encode_dbn_books(const Books& books);

/// Writes them whole or not at all; compressed (zstd, with a checksum) when the name ends in .zst.
void write_dbn_books(const Books& books, const std::filesystem::path& file);

}  // namespace foxhunt::market
