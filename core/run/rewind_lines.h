#pragma once
#include <cstdint>
#include <filesystem>

namespace foxhunt::run {

/// Cuts a file of lines that tell of steps in their order (JSON objects whose first member is `step`; CSV whose first
/// column is `step`) after the last line whose step is at most `last_step`, so that a run that goes on from there
/// writes each step once. A file that is not there is left so. Throws Error(storage).
void rewind_lines(const std::filesystem::path& file, std::int64_t last_step);
/// The same after its first `count` lines.
void keep_lines(const std::filesystem::path& file, std::int64_t count);

}  // namespace foxhunt::run
