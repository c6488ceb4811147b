#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/market/byte_source.h"

namespace foxhunt::market {

/// The bytes of a text file from first to last, decompressed on the way when it is gzip (one or many members) or what
/// ByteSource takes. Holds one block of compressed input, never the file.
class TextSource {
 public:
  /// Throws Error(data) like ByteSource.
  explicit TextSource(const std::filesystem::path& file);
  ~TextSource();

  /// Fills up to `size` bytes and returns how many; fewer than asked only at the end or before damage, which the next
  /// call meets. 0: the end.
  /// Throws Error(data) with the byte of the file where compressed data is damaged or cut short.
  std::size_t read(char* to, std::size_t size);

  /// Whether read() threw because compressed data ends too early; what came before is as it was written.
  bool cut_short() const { return cut_short_; }

  void report_to(std::function<void(std::uint64_t done, std::uint64_t total)> progress);
  bool compressed() const { return inflate_ || source_.compressed(); }
  std::uint64_t file_size() const { return source_.file_size(); }
  std::string name() const { return source_.file().string(); }

 private:
  struct Inflate;
  std::size_t read_plain(char* to, std::size_t size);
  std::size_t read_gzip(char* to, std::size_t size);
  bool refill();

  ByteSource source_;
  std::vector<char> head_;  ///< bytes that were read to tell gzip from text
  std::unique_ptr<Inflate> inflate_;
  bool cut_short_ = false;
};

}  // namespace foxhunt::market
