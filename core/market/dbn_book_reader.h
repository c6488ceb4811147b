#pragma once
#include <filesystem>
#include <span>

#include "core/market/books.h"
#include "core/market/reader.h"

namespace foxhunt::market {

/// Books of DBN files of one schema, mbp-10, mbp-1, tbbo or mbo, or of mixed files that hold such records (of several
/// kinds, the first of mbp-10, mbo, mbp-1). Several files are read as one, in this order; books and volumes carry over.
/// Memory: the columns that are kept, 16 MiB, and for mbo the orders that live. While several instruments are read of
/// which one stays (the front contract), the columns of all of them.
/// Throws Error(data); files without a row say which records they hold.
Books read_dbn_books(std::span<const std::filesystem::path> files, const ReadOptions& options);

/// Trades of DBN files of schema trades, or of mixed files that hold some; otherwise the same.
Trades read_dbn_trades(std::span<const std::filesystem::path> files, const ReadOptions& options);

}  // namespace foxhunt::market
