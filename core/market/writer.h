#pragma once
#include <filesystem>

#include "core/market/tape.h"

namespace foxhunt::market {

/// Writes bars whole or not at all, in the format that the name asks for: .dbn, .dbn.zst or .csv.
/// Throws Error(usage) for another name, Error(storage) when writing fails.
void write_bars(const Bars& bars, const std::filesystem::path& file);

}  // namespace foxhunt::market
