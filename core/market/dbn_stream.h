#pragma once
#include <string>
#include <vector>

#include "core/market/dbn_metadata.h"

namespace foxhunt::market {

/// One record where it lies: at an address of any alignment, valid until the next one is read.
struct DbnRecord {
  const char* bytes = nullptr;
  std::size_t size = 0;      ///< header included, and the send time where the stream carries one
  std::uint64_t offset = 0;  ///< byte of the (decompressed) stream

  std::uint8_t rtype() const { return static_cast<std::uint8_t>(bytes[1]); }
  std::uint32_t instrument() const { return dbn::load<std::uint32_t>(bytes + 4); }
  std::uint64_t ts_event() const { return dbn::load<std::uint64_t>(bytes + 8); }
  template <class T>
  T field(std::size_t at) const {
    return dbn::load<T>(bytes + at);
  }
};

/// Walks a DBN file: metadata, then record after record. Knows lengths, not meanings.
class DbnStream {
 public:
  /// Throws Error(data); see ByteSource and read_dbn_metadata.
  explicit DbnStream(const std::filesystem::path& file);

  const DbnMetadata& metadata() const { return metadata_; }
  std::string name() const { return source_.file().string(); }
  ByteSource& source() { return source_; }

  /// Records of `size` bytes that can still come; 0 where compression hides it.
  std::size_t records_left(std::size_t size) const {
    return source_.compressed() ? 0 : (source_.file_size() - buffer_offset_ - at_) / size;
  }

  /// Calls visit(const DbnRecord&) for every record from here to the end.
  /// Throws Error(data) at a record that is cut short or shorter than a header.
  template <class Visit>
  void for_each(Visit&& visit) {
    DbnRecord record;
    while (next(record)) visit(static_cast<const DbnRecord&>(record));
  }

  /// The next record; false at the end.
  bool next(DbnRecord& record) {
    const std::size_t left = filled_ - at_;
    if (left == 0 || left < size_at(at_)) {
      if (!refill()) return false;
    }
    const std::size_t size = size_at(at_);
    if (size < dbn::record_header_size || size > filled_ - at_) fail_at_record(size);
    record = {buffer_.data() + at_, size, buffer_offset_ + at_};
    at_ += size;
    return true;
  }

  /// Throws Error(data) that names the file and the record's byte.
  [[noreturn]] void fail(const DbnRecord& record, const std::string& what) const;

 private:
  std::size_t size_at(std::size_t at) const { return std::size_t{static_cast<std::uint8_t>(buffer_[at])} * 4; }
  bool refill();
  [[noreturn]] void fail_at_record(std::size_t size) const;

  ByteSource source_;
  DbnMetadata metadata_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;  ///< the bytes of buffer_ still to be walked
  std::uint64_t buffer_offset_ = 0;  ///< byte of the stream that buffer_[0] is
};

}  // namespace foxhunt::market
