#pragma once
#include <cstdint>
#include <filesystem>

namespace foxhunt::market {

/// What market data is told by: a file, or the regular files of a folder, whatever their dates.
struct SourceSum {
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t xxh64 = 0;  ///< of every file's name and bytes, in the order of the names
  bool operator==(const SourceSum&) const = default;
};

/// Reads every byte. Throws Error(data) when a file cannot be read.
SourceSum sum_of_source(const std::filesystem::path& file_or_folder);

}  // namespace foxhunt::market
