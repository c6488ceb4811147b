#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "core/storage.h"

namespace foxhunt::run {

/// A file that grows by whole records and holds nothing else, whatever happens.
class AppendFile {
 public:
  /// Creates the file, or goes on after the last whole line of one that exists; half a line after it is cut off. Throws
  /// Error(storage).
  static AppendFile of_lines(const std::filesystem::path& path);
  /// Creates a file that is not there yet. Throws Error(storage).
  static AppendFile create(const std::filesystem::path& path);

  /// The record is on its way to the disk when this returns. Throws Error(storage) when it cannot be written; the file
  /// then ends with the record before it.
  void append(std::span<const std::byte> record);
  void append(std::string_view record) { append(std::as_bytes(std::span(record))); }

  std::int64_t size() const { return size_; }  ///< bytes of whole records
  const std::filesystem::path& path() const { return path_; }

 private:
  AppendFile(const std::filesystem::path& path, int flags);

  std::filesystem::path path_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

}  // namespace foxhunt::run
