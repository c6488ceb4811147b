#include "core/run/metrics.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>

#include "core/run/json.h"

namespace foxhunt::run {
namespace {

/// Size of the file up to and with its last newline; -1 when it cannot be read.
std::int64_t size_of_whole_lines(int file) {
  for (std::int64_t end = ::lseek(file, 0, SEEK_END); end > 0;) {
    char block[4096];
    const std::int64_t begin = std::max<std::int64_t>(0, end - static_cast<std::int64_t>(sizeof block));
    const ssize_t count = ::pread(file, block, static_cast<std::size_t>(end - begin), begin);
    if (count != end - begin) return -1;
    const std::size_t newline = std::string_view(block, static_cast<std::size_t>(count)).rfind('\n');
    if (newline != std::string_view::npos) return begin + static_cast<std::int64_t>(newline) + 1;
    end = begin;
  }
  return 0;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (!file_) throw storage_error("open", path_, errno);
  size_ = size_of_whole_lines(file_.get());
  if (size_ < 0) throw storage_error("read", path_, errno);
  const bool cut_line = ::lseek(file_.get(), 0, SEEK_END) > size_;
  if (cut_line && ::ftruncate(file_.get(), size_) != 0) throw storage_error("repair", path_, errno);
}

void MetricsLog::append(std::int64_t step, std::span<const Metric> metrics) {
  nlohmann::ordered_json object;
  object["step"] = step;
  for (const Metric& metric : metrics) object[std::string(metric.name)] = metric.value;
  const std::string line = json_text(object) + "\n";

  std::size_t written = 0;
  if (const int error = write_fully(file_.get(), std::as_bytes(std::span(line)), &written)) {
    if (written > 0 && ::ftruncate(file_.get(), size_) != 0) throw storage_error("repair", path_, errno);
    throw storage_error("append to", path_, error, line.size());
  }
  size_ += static_cast<std::int64_t>(line.size());
}

}  // namespace foxhunt::run
