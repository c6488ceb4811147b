#pragma once
#include <filesystem>
#include <string>

#include "core/market/reader.h"

namespace foxhunt::market {

/// What a market file or folder holds, in lines for a person: format, records by type, symbols, span, rows, rows left
/// out by reason, calendar, sessions, early closes, gaps, rolls, and what its schema has besides. A DBN file of a
/// schema that is not read is described by its metadata. Throws Error(data).
std::string describe_market(const std::filesystem::path& file_or_folder, const ReadOptions& read = {},
                            const TapeOptions& tape = {});

}  // namespace foxhunt::market
