#pragma once
#include <filesystem>
#include <map>

#include "core/market/dbn_metadata.h"
#include "core/market/reader.h"

namespace foxhunt::market {

/// Bars of a DBN file of schema ohlcv-1s, -1m, -1h, -1d, -eod, or of a mixed file that holds some. Of several bar
/// intervals the one with the most bars stays. Throws Error(data); a file without a bar says which records it holds.
Bars read_dbn_bars(const std::filesystem::path& file, const ReadOptions& options = {});

/// What a DBN file of any schema holds.
struct DbnContents {
  DbnMetadata metadata;
  std::map<std::string, std::int64_t> records;  ///< by name of their type
};
DbnContents read_dbn_contents(const std::filesystem::path& file, const ReadOptions& options = {});

}  // namespace foxhunt::market
