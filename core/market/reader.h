#pragma once
#include <filesystem>

#include "core/market/tape.h"

namespace foxhunt::market {

struct ReadOptions {
  bool csv_time_is_close = false;  ///< the times of a CSV file are those at which its bars close, not open
};

/// Bars of a market file, or of the market files of a folder: DBN (.dbn, .dbn.zst) before CSV (.csv). Several DBN bar
/// files are read in the order of their names as one, when each starts after the one before has ended; of CSV files
/// there may be one. Throws Error(data), one line that names file, byte or line, reason and remedy.
Bars read_bars(const std::filesystem::path& file_or_folder, const ReadOptions& options = {});

/// By its name (.dbn, .dbn.zst, and .dbz, which the reader turns down) or else by its first bytes.
bool is_dbn(const std::filesystem::path& file);

}  // namespace foxhunt::market
