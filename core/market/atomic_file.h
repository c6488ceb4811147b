#pragma once
#include <filesystem>
#include <string_view>

namespace foxhunt::market {

/// Writes a file as a whole: to a temporary file beside it, then renamed, so that a reader sees the old file or the new
/// one. Throws Error(storage) and leaves nothing behind when that fails.
void write_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace foxhunt::market
