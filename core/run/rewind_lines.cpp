#include "core/run/rewind_lines.h"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "core/storage.h"

namespace foxhunt::run {
namespace {

bool header_of_table(const std::string& line) { return line == "step" || line.starts_with("step,"); }

/// Whether the line is one that tells of a step up to `last_step`.
bool kept(const std::string& line, std::int64_t last_step) {
  constexpr std::string_view object = "{\"step\":";
  const std::size_t opening = line.starts_with(object) ? object.size() : 0;
  std::int64_t step = 0;
  const char* const end = line.data() + line.size();
  const auto [at, error] = std::from_chars(line.data() + opening, end, step);
  const bool whole = opening > 0 ? at != end : at == end || *at == ',';
  return error == std::errc() && whole && step <= last_step;
}

/// Cuts the file before the first line that `keep` is false of.
template <class Keep>
void cut(const std::filesystem::path& file, Keep keep) {
  std::error_code failure;
  if (!std::filesystem::exists(file, failure)) return;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw storage_error("read", file, errno);
  std::uintmax_t size = 0;
  // A last line without its newline was cut by a kill: it goes too.
  for (std::string line; std::getline(in, line) && !in.eof() && keep(line);) size += line.size() + 1;
  if (in.bad()) throw storage_error("read", file, EIO);
  std::filesystem::resize_file(file, size, failure);
  if (failure) throw storage_error("shorten", file, failure.value());
}

}  // namespace

void rewind_lines(const std::filesystem::path& file, std::int64_t last_step) {
  bool first = true;
  cut(file, [&](const std::string& line) {
    return kept(line, last_step) || (std::exchange(first, false) && header_of_table(line));
  });
}

void keep_lines(const std::filesystem::path& file, std::int64_t count) {
  cut(file, [&](const std::string&) { return count-- > 0; });
}

}  // namespace foxhunt::run
