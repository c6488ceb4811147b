#include "core/market/byte_source.h"

#include <fmt/format.h>

#include <cstring>

#include "core/error.h"

namespace foxhunt::market {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
  throw Error(ExitCode::data, fmt::format("{}: {}", file.string(), what));
}

std::uint64_t checked_size(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(file, "no such file; check data.path");
  if (!std::filesystem::is_regular_file(status)) fail(file, "not a regular file; expected a market file");
  const std::uint64_t size = std::filesystem::file_size(file, error);
  if (error) fail(file, "cannot read its size: " + error.message());
  if (size == 0) fail(file, "the file is empty (0 bytes); fetch it again");
  return size;
}

/// What the first bytes of a file say. The two magics are of RFC 8878.
enum class Container { plain, zstd, dbz };
Container container_of(const char* head, size_t size) {
  std::uint32_t magic = 0;
  if (size < sizeof magic) return Container::plain;
  std::memcpy(&magic, head, sizeof magic);
  if (magic == ZSTD_MAGICNUMBER) return Container::zstd;
  if ((magic & ZSTD_MAGIC_SKIPPABLE_MASK) != ZSTD_MAGIC_SKIPPABLE_START) return Container::plain;
  return size >= 11 && std::memcmp(head + 8, "DBZ", 3) == 0 ? Container::dbz : Container::zstd;
}

}  // namespace

ByteSource::ByteSource(const std::filesystem::path& file) : file_(file), file_size_(checked_size(file)) {
  in_.open(file, std::ios::binary);
  if (!in_) fail(file, fmt::format("cannot be opened: {}", std::strerror(errno)));
  char head[16];
  const size_t got = read_file(head, sizeof head);
  const Container container = container_of(head, got);
  if (container == Container::dbz)
    fail(file, "a legacy DBZ file, which DBN replaced; convert it with Databento's `dbn` tool or download it as DBN");
  in_.clear();
  in_.seekg(0);
  file_read_ = 0;
  if (container == Container::plain) return;
  stream_.reset(ZSTD_createDStream());
  if (!stream_) throw std::bad_alloc();
  block_.resize(ZSTD_DStreamInSize());
}

void ByteSource::report_to(std::function<void(std::uint64_t, std::uint64_t)> progress) {
  progress_ = std::move(progress);
}

std::size_t ByteSource::read(char* to, std::size_t size) {
  return stream_ ? decompress(to, size) : read_file(to, size);
}

std::size_t ByteSource::read_file(char* to, std::size_t size) {
  in_.read(to, static_cast<std::streamsize>(size));
  if (in_.bad()) fail(file_, fmt::format("reading failed after byte {}", file_read_));
  const size_t got = static_cast<size_t>(in_.gcount());
  file_read_ += got;
  if (progress_ && (file_read_ >= next_report_ || got < size)) {
    constexpr std::uint64_t distance = 4 << 20;
    next_report_ = file_read_ + distance;
    progress_(file_read_, file_size_);
  }
  return got;
}

std::size_t ByteSource::decompress(char* to, std::size_t size) {
  if (!damage_.empty()) fail(file_, damage_);
  ZSTD_outBuffer output{to, size, 0};
  while (output.pos < size) {
    if (input_.pos == input_.size) {
      input_ = {block_.data(), read_file(block_.data(), block_.size()), 0};
      // Output that the last block left inside the decoder is flushed before the end of input counts as an end.
      if (input_.size == 0 && !inside_frame_) break;
    }
    const bool at_end = input_.size == 0;
    const size_t before = output.pos;
    const size_t rest = ZSTD_decompressStream(stream_.get(), &output, &input_);
    const std::uint64_t at = file_read_ - input_.size + input_.pos;
    if (ZSTD_isError(rest))
      damage_ = fmt::format("damaged zstd data near byte {}: {}; fetch the file again", at, ZSTD_getErrorName(rest));
    else if (inside_frame_ = rest != 0; at_end && output.pos == before && inside_frame_)
      damage_ = fmt::format("zstd data is cut short at byte {}; fetch the file again", at);
    if (damage_.empty()) continue;
    if (output.pos > 0) break;  // what came before the damage is handed out first
    fail(file_, damage_);
  }
  return output.pos;
}

}  // namespace foxhunt::market
