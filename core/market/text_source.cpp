#include "core/market/text_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "core/error.h"

namespace foxhunt::market {

/// A zlib stream and the block of the file that it is fed from.
struct TextSource::Inflate {
  Inflate() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;
  ~Inflate() { inflateEnd(&stream); }

  std::uint64_t at() const { return file_read - stream.avail_in; }

  z_stream stream{};
  std::vector<char> block = std::vector<char>(1 << 17);
  std::uint64_t file_read = 0;
  bool member_ended = false;
};

TextSource::TextSource(const std::filesystem::path& file) : source_(file), head_(2) {
  head_.resize(source_.read(head_.data(), head_.size()));
  if (std::string_view(head_.data(), head_.size()) == "\x1F\x8B") inflate_ = std::make_unique<Inflate>();
}

TextSource::~TextSource() = default;

void TextSource::report_to(std::function<void(std::uint64_t, std::uint64_t)> progress) {
  source_.report_to(std::move(progress));
}

std::size_t TextSource::read(char* to, std::size_t size) {
  return inflate_ ? read_gzip(to, size) : read_plain(to, size);
}

std::size_t TextSource::read_plain(char* to, std::size_t size) {
  const std::size_t early = std::min(size, head_.size());
  std::memcpy(to, head_.data(), early);
  head_.erase(head_.begin(), head_.begin() + static_cast<std::ptrdiff_t>(early));
  return early + source_.read(to + early, size - early);
}

bool TextSource::refill() {
  const std::size_t got = read_plain(inflate_->block.data(), inflate_->block.size());
  inflate_->file_read += got;
  inflate_->stream.next_in = reinterpret_cast<Bytef*>(inflate_->block.data());
  inflate_->stream.avail_in = static_cast<uInt>(got);
  return got > 0;
}

std::size_t TextSource::read_gzip(char* to, std::size_t size) {
  z_stream& stream = inflate_->stream;
  size = std::min<std::size_t>(size, std::numeric_limits<uInt>::max());
  stream.next_out = reinterpret_cast<Bytef*>(to);
  stream.avail_out = static_cast<uInt>(size);
  const auto filled = [&] { return size - stream.avail_out; };
  // What was decompressed before damage is handed out first; zlib keeps its state for the next call.
  const auto fail = [&](const std::string& what) -> std::size_t {
    if (filled() > 0) return filled();
    throw Error(ExitCode::data, fmt::format("{}: {} at byte {}; fetch the file again", name(), what, inflate_->at()));
  };
  while (stream.avail_out > 0) {
    if (stream.avail_in == 0 && !refill()) {
      if (inflate_->member_ended) break;
      cut_short_ = true;
      return fail("gzip data is cut short");
    }
    if (inflate_->member_ended) {
      // tar and some tapes fill up the last block with zeros; all else must be a further member.
      if (*stream.next_in == 0) {
        ++stream.next_in, --stream.avail_in;
        continue;
      }
      inflateReset(&stream);
      inflate_->member_ended = false;
    }
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END)
      inflate_->member_ended = true;
    else if (result != Z_OK && result != Z_BUF_ERROR)
      return fail(fmt::format("damaged gzip data ({})", stream.msg ? stream.msg : "no such stream"));
  }
  return filled();
}

}  // namespace foxhunt::market
