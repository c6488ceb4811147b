#pragma once
#include <filesystem>
#include <string>

#include "core/market/tape.h"

namespace foxhunt::market {

/// The bytes of a DBN v3 file of these bars, uncompressed: dataset "SYNTHETIC", a mapping for every named instrument
/// over the dates on which it has bars. Throws Error(data) for an interval that DBN has no schema for,
/// Error(usage) for bars with extra columns, which DBN has no place for.
std::string encode_dbn(const Bars& bars);

/// Writes them whole or not at all; compressed (zstd, with a checksum) when the name ends in .zst.
void write_dbn(const Bars& bars, const std::filesystem::path& file);

}  // namespace foxhunt::market
