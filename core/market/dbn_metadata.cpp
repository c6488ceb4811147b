#include "core/market/dbn_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/market/dbn_symbols.h"

namespace foxhunt::market {
namespace {

using dbn::load;

/// Reads fields in order out of the metadata; `at` counts from the start of the stream, as errors name it.
class Cursor {
 public:
  Cursor(const std::vector<char>& bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  template <class T>
  T number(const char* field) {
    need(sizeof(T), field);
    const T value = load<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  /// A fixed-size, NUL-padded string.
  std::string text(std::size_t size, const char* field) {
    need(size, field);
    const char* first = bytes_.data() + at_;
    at_ += size;
    return text_at(first, size);
  }

  /// A count of items that take at least `item_size` bytes each: no more than the bytes left can hold.
  std::uint32_t count(std::size_t item_size, const char* field) {
    const std::uint32_t n = number<std::uint32_t>(field);
    if (n > (bytes_.size() - at_) / item_size)
      fail(fmt::format("{} says {} entries, which do not fit in the {} bytes of metadata left", field, n,
                       bytes_.size() - at_));
    return n;
  }

  void skip(std::size_t size, const char* field) { need(size, field), at_ += size; }

 private:
  void need(std::size_t size, const char* field) const {
    if (size > bytes_.size() - at_) fail(fmt::format("metadata ends before its {}", field));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::data, fmt::format("{}: byte {}: {}; the file is damaged, fetch it again", file_, at_, what));
  }

  const std::vector<char>& bytes_;
  const std::string& file_;
  std::size_t at_ = dbn::prefix_size;
};

/// As many of the `size` bytes as there are.
std::size_t read_all(ByteSource& source, char* to, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const std::size_t more = source.read(to + got, size - got);
    if (more == 0) break;
    got += more;
  }
  return got;
}

/// Whether bytes look like a record: a fragment is records without metadata.
bool looks_like_record(const std::vector<char>& head, std::size_t size) {
  return size == dbn::prefix_size && load<std::uint8_t>(head.data()) * std::size_t{4} > dbn::record_header_size &&
         !dbn::record_name(load<std::uint8_t>(head.data() + 1)).empty();
}

/// The prefix and the metadata after it, read as the stream yields it: a length that lies allocates nothing.
std::vector<char> read_metadata_bytes(ByteSource& source) {
  const std::string file = source.file().string();
  const auto fail = [&](const std::string& what) { throw Error(ExitCode::data, fmt::format("{}: {}", file, what)); };
  std::vector<char> bytes(dbn::prefix_size);
  const std::size_t got = read_all(source, bytes.data(), bytes.size());
  if (got < 3 || std::string_view(bytes.data(), 3) != "DBN") {
    if (looks_like_record(bytes, got))
      fail(
          fmt::format("byte 0: expected \"DBN\", found a record ({}): a DBN fragment, which lacks the metadata that "
                      "says its version and symbols; put the metadata before it, or download the whole file",
                      dbn::record_name(load<std::uint8_t>(bytes.data() + 1))));
    fail("byte 0: expected \"DBN\"; this is no Databento file, download it as DBN or CSV");
  }
  if (got < bytes.size()) fail(fmt::format("byte {}: the file ends inside the DBN prefix; fetch it again", got));
  const auto version = static_cast<std::uint8_t>(bytes[3]);
  if (version < 1 || version > 3)
    fail(fmt::format(
        "byte 3: DBN version {} is not supported; versions 1, 2 and 3 are, convert the file with Databento's "
        "`dbn` tool",
        version));

  const auto length = load<std::uint32_t>(bytes.data() + 4);
  if (!source.compressed() && length > source.file_size() - dbn::prefix_size)
    fail(fmt::format("byte 4: metadata length {} exceeds the file's {} bytes; the file is damaged, fetch it again",
                     length, source.file_size()));
  const std::size_t end = dbn::prefix_size + length;
  constexpr std::size_t step = 1 << 20;
  while (bytes.size() < end) {
    const std::size_t before = bytes.size(), want = std::min(step, end - before);
    bytes.resize(before + want);
    const std::size_t more = read_all(source, bytes.data() + before, want);
    if (more < want)
      fail(fmt::format("byte 4: metadata length {} exceeds the {} bytes there are; the file is damaged, fetch it again",
                       length, before + more));
  }
  return bytes;
}

std::vector<std::string> read_symbols(Cursor& cursor, std::size_t symbol_size, const char* field) {
  std::vector<std::string> symbols(cursor.count(symbol_size, field));
  for (std::string& symbol : symbols) symbol = cursor.text(symbol_size, field);
  return symbols;
}

std::vector<DbnMapping> read_mappings(Cursor& cursor, std::size_t symbol_size) {
  std::vector<DbnMapping> mappings;
  const std::uint32_t n = cursor.count(symbol_size + 4, "symbol mappings");
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::string symbol = cursor.text(symbol_size, "symbol mapping");
    const std::uint32_t intervals = cursor.count(8 + symbol_size, "mapping intervals");
    for (std::uint32_t k = 0; k < intervals; ++k) {
      DbnMapping mapping{symbol, cursor.number<std::uint32_t>("mapping start"),
                         cursor.number<std::uint32_t>("mapping end"), ""};
      mapping.mapped = cursor.text(symbol_size, "mapped symbol");
      mappings.push_back(std::move(mapping));
    }
  }
  return mappings;
}

}  // namespace

DbnMetadata read_dbn_metadata(ByteSource& source) {
  const std::vector<char> bytes = read_metadata_bytes(source);
  const std::string file = source.file().string();
  Cursor cursor(bytes, file);
  DbnMetadata metadata;
  metadata.version = static_cast<std::uint8_t>(bytes[3]);
  metadata.dataset = cursor.text(16, "dataset");
  metadata.schema = cursor.number<std::uint16_t>("schema");
  metadata.start = cursor.number<std::uint64_t>("start");
  metadata.end = cursor.number<std::uint64_t>("end");
  metadata.limit = cursor.number<std::uint64_t>("limit");
  if (metadata.version == 1) cursor.skip(8, "record count");
  metadata.stype_in = cursor.number<std::uint8_t>("stype_in");
  metadata.stype_out = cursor.number<std::uint8_t>("stype_out");
  metadata.ts_out = cursor.number<std::uint8_t>("ts_out") != 0;
  std::size_t symbol_size = dbn::symbol_size_v1;
  if (metadata.version > 1) symbol_size = cursor.number<std::uint16_t>("symbol length");
  if (symbol_size == 0)
    throw Error(ExitCode::data,
                fmt::format("{}: byte 53: symbols of length 0; the file is damaged, fetch it again", file));
  cursor.skip(metadata.version == 1 ? 47 : 53, "reserved bytes");
  cursor.skip(cursor.number<std::uint32_t>("schema definition length"), "schema definition");
  metadata.symbols = read_symbols(cursor, symbol_size, "symbols");
  read_symbols(cursor, symbol_size, "partly resolved symbols");
  read_symbols(cursor, symbol_size, "symbols not found");
  metadata.mappings = read_mappings(cursor, symbol_size);
  metadata.records_at = bytes.size();
  return metadata;
}

}  // namespace foxhunt::market
