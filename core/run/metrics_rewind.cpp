#include "core/run/metrics_rewind.h"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>

#include "core/storage.h"

namespace foxhunt::run {
namespace {

/// Whether the line is one that MetricsLog wrote for a step up to `last_step`.
bool kept(const std::string& line, std::int64_t last_step) {
  constexpr std::string_view opening = "{\"step\":";
  if (!line.starts_with(opening)) return false;
  std::int64_t step = 0;
  const char* const end = line.data() + line.size();
  const auto [at, error] = std::from_chars(line.data() + opening.size(), end, step);
  return error == std::errc() && at != end && step <= last_step;
}

}  // namespace

void rewind_metrics(const std::filesystem::path& file, std::int64_t last_step) {
  std::error_code failure;
  if (!std::filesystem::exists(file, failure)) return;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw storage_error("read", file, errno);
  std::uintmax_t size = 0;
  // A last line without its newline was cut by a kill: it goes too.
  for (std::string line; std::getline(in, line) && !in.eof() && kept(line, last_step);) size += line.size() + 1;
  if (in.bad()) throw storage_error("read", file, EIO);
  std::filesystem::resize_file(file, size, failure);
  if (failure) throw storage_error("shorten", file, failure.value());
}

}  // namespace foxhunt::run
