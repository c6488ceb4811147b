#include "core/market/source_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/checksum.h"
#include "core/error.h"
#include "core/market/mapped_file.h"

namespace foxhunt::market {

SourceSum sum_of_source(const std::filesystem::path& file_or_folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  if (!std::filesystem::is_directory(file_or_folder, error)) {
    files.push_back(file_or_folder);
  } else {
    for (auto entry = std::filesystem::directory_iterator(file_or_folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (entry->is_regular_file(error)) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  SourceSum sum;
  for (const std::filesystem::path& path : files) {
    const auto file = MappedFile::open(path);
    if (!file)
      throw Error(ExitCode::data, fmt::format("{}: cannot be read: {}; name market data with --data or data.path",
                                              path.string(), std::strerror(errno)));
    const std::string name = path.filename().string();
    ++sum.files;
    sum.bytes += file->bytes().size();
    sum.xxh64 = xxh64(file->bytes(), xxh64(std::as_bytes(std::span(name)), sum.xxh64));
  }
  return sum;
}

}  // namespace foxhunt::market
