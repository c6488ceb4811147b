#include "core/market/dbn_stream.h"

#include <fmt/format.h>

#include <cstring>

#include "core/error.h"

namespace foxhunt::market {

DbnStream::DbnStream(const std::filesystem::path& file)
    : source_(file), metadata_(read_dbn_metadata(source_)), buffer_(1 << 18), buffer_offset_(metadata_.records_at) {}

bool DbnStream::refill() {
  filled_ -= at_;
  std::memmove(buffer_.data(), buffer_.data() + at_, filled_);
  buffer_offset_ += at_;
  at_ = 0;
  std::size_t got = 0;
  do {
    got = source_.read(buffer_.data() + filled_, buffer_.size() - filled_);
    filled_ += got;
  } while (got > 0 && filled_ < size_at(0));
  return filled_ > 0;
}

void DbnStream::fail(const DbnRecord& record, const std::string& what) const {
  throw Error(ExitCode::data, fmt::format("{}: byte {}: {}", name(), record.offset, what));
}

void DbnStream::fail_at_record(std::size_t size) const {
  const DbnRecord record{buffer_.data() + at_, size, buffer_offset_ + at_};
  if (size < dbn::record_header_size)
    fail(record,
         fmt::format("a record says it is {} bytes long, less than its {}-byte header; the file is damaged, fetch "
                     "it again",
                     size, dbn::record_header_size));
  fail(record, fmt::format("a record of {} bytes is cut short after {}; the file is truncated, fetch it again", size,
                           filled_ - at_));
}

}  // namespace foxhunt::market
