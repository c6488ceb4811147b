#pragma once
#include <zstd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace foxhunt::market {

/// The bytes of a file from first to last, decompressed on the way when it is zstd (one or many frames, skippable ones
/// among them). Holds one block of compressed input, never the file.
class ByteSource {
 public:
  /// Throws Error(data): no such file, not a regular file, unreadable, empty, a legacy .dbz.
  explicit ByteSource(const std::filesystem::path& file);

  /// Fills up to `size` bytes and returns how many; fewer than asked only at the end or before damage, which the next
  /// call meets. 0: the end.
  /// Throws Error(data) with the byte of the file where compressed data is damaged or cut short.
  std::size_t read(char* to, std::size_t size);

  /// Calls `progress` with the bytes of the file that are read and its size, every few MiB and at its end.
  void report_to(std::function<void(std::uint64_t done, std::uint64_t total)> progress);

  bool compressed() const { return stream_ != nullptr; }
  const std::filesystem::path& file() const { return file_; }
  std::uint64_t file_size() const { return file_size_; }

 private:
  std::size_t read_file(char* to, std::size_t size);
  std::size_t decompress(char* to, std::size_t size);

  struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::filesystem::path file_;
  std::ifstream in_;
  std::uint64_t file_size_ = 0;
  std::uint64_t file_read_ = 0;
  std::function<void(std::uint64_t, std::uint64_t)> progress_;
  std::uint64_t next_report_ = 0;
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> block_;
  ZSTD_inBuffer input_{};
  bool inside_frame_ = false;
  std::string damage_;  ///< met, and thrown by the next read
};

}  // namespace foxhunt::market
