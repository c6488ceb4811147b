#include "core/run/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

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

AppendFile::AppendFile(const std::filesystem::path& path, int flags)
    : path_(path), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666)) {
  if (!file_) throw storage_error("open", path_, errno);
}

AppendFile AppendFile::of_lines(const std::filesystem::path& path) {
  AppendFile file(path, 0);
  file.size_ = size_of_whole_lines(file.file_.get());
  if (file.size_ < 0) throw storage_error("read", path, errno);
  const bool cut_line = ::lseek(file.file_.get(), 0, SEEK_END) > file.size_;
  if (cut_line && ::ftruncate(file.file_.get(), file.size_) != 0) throw storage_error("repair", path, errno);
  return file;
}

AppendFile AppendFile::create(const std::filesystem::path& path) { return AppendFile(path, O_EXCL); }

void AppendFile::append(std::span<const std::byte> record) {
  std::size_t written = 0;
  if (const int error = write_fully(file_.get(), record, &written)) {
    if (written > 0 && ::ftruncate(file_.get(), size_) != 0) throw storage_error("repair", path_, errno);
    throw storage_error("append to", path_, error, record.size());
  }
  size_ += static_cast<std::int64_t>(record.size());
}

}  // namespace foxhunt::run
