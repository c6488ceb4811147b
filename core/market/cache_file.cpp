#include "core/market/cache_file.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <type_traits>

#include "core/checksum.h"

namespace foxhunt::market {
namespace {

/// Grows by one with every change to the header or to visit().
constexpr std::uint32_t version = 1;
constexpr std::size_t alignment = 64;

struct Header {
  std::array<char, 8> magic{'f', 'x', 'c', 'a', 'c', 'h', 'e', '\n'};
  std::uint32_t file_version = version;
  std::uint32_t small_size = 0;  ///< bytes of small values after the header, padding included
  std::uint64_t key = 0;
  std::uint64_t file_size = 0;
  std::uint64_t small_sum = 0;   ///< of the small values
  std::uint64_t column_sum = 0;  ///< of the columns, padding included, one after the other
  std::uint64_t reserved = 0;
  std::uint64_t header_sum = 0;  ///< of all before
};
static_assert(sizeof(Header) == alignment);

std::uint64_t sum_of(const Header& header) {
  return xxh64(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_sum)));
}

std::size_t padding_after(std::size_t size) { return (alignment - size % alignment) % alignment; }
constexpr std::array<std::byte, alignment> zeros{};

struct Damage {
  std::string what;
};

/// Everything that a file holds, in order; Archive is Writer or Reader. All members are named, so that one that is
/// added does not compile until it is dealt with here.
template <class Archive, class TapeT, class TableT>
void visit(Archive& a, TapeT& tape, TableT& features) {
  auto& [names, values, mean, deviation] = features;
  a.strings(names), a.column(mean), a.column(deviation), a.values(values);
  auto& [ts, mid, fill_mid, half_spread, session, instrument, flags, calendar, bars, contract] = tape;
  a.column(ts), a.column(mid), a.column(fill_mid), a.column(half_spread);
  a.column(session), a.column(instrument), a.column(flags), a.string(calendar);
  auto& [symbol, tick_size, multiplier, commission, hours] = contract;
  a.string(symbol), a.number(tick_size), a.number(multiplier), a.number(commission), a.string(hours);
  a.number(bars.interval), a.string(bars.schema), a.string(bars.source);
  a.map(bars.symbols), a.map(bars.rejects), a.strings(bars.notes);
}

/// Collects small values in a block of bytes, and columns where they lie.
class Writer {
 public:
  template <class T>
  void number(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    small_.insert(small_.end(), bytes.begin(), bytes.end());
  }
  void string(const std::string& text) {
    number(std::uint64_t{text.size()});
    const auto bytes = std::as_bytes(std::span(text));
    small_.insert(small_.end(), bytes.begin(), bytes.end());
  }
  void strings(const std::vector<std::string>& texts) {
    number(std::uint64_t{texts.size()});
    for (const std::string& text : texts) string(text);
  }
  template <class V>
  void map(const std::map<std::uint32_t, V>& items) {
    number(std::uint64_t{items.size()});
    for (const auto& [key, value] : items) number(key), string(value);
  }
  template <class V>
  void map(const std::map<std::string, V>& items) {
    number(std::uint64_t{items.size()});
    for (const auto& [key, value] : items) string(key), number(value);
  }
  template <class T>
  void column(const std::vector<T>& values) {
    bytes(std::as_bytes(std::span(values)));
  }
  void values(const FeatureValues& table) { bytes(std::as_bytes(std::span(table.data(), table.size()))); }

  std::vector<std::byte>& small() { return small_; }
  const std::vector<std::span<const std::byte>>& columns() const { return columns_; }

 private:
  void bytes(std::span<const std::byte> column) {
    number(std::uint64_t{column.size()});
    columns_.push_back(column);
    columns_.push_back(std::span(zeros).first(padding_after(column.size())));
  }

  std::vector<std::byte> small_;
  std::vector<std::span<const std::byte>> columns_;
};

/// The reverse. Sizes are checked against the bytes that are there before anything is allocated.
class Reader {
 public:
  Reader(std::shared_ptr<const MappedFile> file, std::span<const std::byte> small, std::span<const std::byte> columns)
      : file_(std::move(file)), small_(small), columns_(columns) {}

  template <class T>
  void number(T& value) {
    std::memcpy(&value, take(small_, sizeof value).data(), sizeof value);
  }
  void string(std::string& text) {
    const auto bytes = take(small_, size());
    text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void strings(std::vector<std::string>& texts) {
    for (std::uint64_t left = size(); left > 0; --left) string(texts.emplace_back());
  }
  template <class V>
  void map(std::map<std::uint32_t, V>& items) {
    for (std::uint64_t left = size(); left > 0; --left) {
      std::uint32_t key = 0;
      number(key), string(items[key]);
    }
  }
  template <class V>
  void map(std::map<std::string, V>& items) {
    for (std::uint64_t left = size(); left > 0; --left) {
      std::string key;
      string(key), number(items[key]);
    }
  }
  template <class T>
  void column(std::vector<T>& values) {
    const auto found = elements<T>();
    values.assign(found.begin(), found.end());
  }
  void values(FeatureValues& table) { table = FeatureValues(file_, elements<float>()); }

  bool at_end() const { return small_.size() < alignment && columns_.empty(); }
  std::uint64_t sum() const { return sum_; }

 private:
  static std::span<const std::byte> take(std::span<const std::byte>& from, std::uint64_t count) {
    if (count > from.size()) throw Damage{"a length that lies"};
    const auto taken = from.first(count);
    from = from.subspan(count);
    return taken;
  }
  std::uint64_t size() {
    std::uint64_t value = 0;
    number(value);
    return value;
  }
  template <class T>
  std::span<const T> elements() {
    const auto bytes = take(columns_, size());
    if (bytes.size() % sizeof(T) != 0) throw Damage{"a length that lies"};
    sum_ = xxh64(take(columns_, padding_after(bytes.size())), xxh64(bytes, sum_));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};  // aligned, see padding_after
  }

  std::shared_ptr<const MappedFile> file_;
  std::span<const std::byte> small_, columns_;
  std::uint64_t sum_ = 0;
};

/// The header, once it is known to fit. Throws Damage; returns why the file is not the right one, or "".
std::string check_header(std::span<const std::byte> bytes, std::uint64_t key, Header& header) {
  if (bytes.size() < sizeof header) throw Damage{fmt::format("cut short at byte {}", bytes.size())};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != Header{}.magic) throw Damage{"not an .fxcache file"};
  if (header.file_version != version) return fmt::format("version {}, expected {}", header.file_version, version);
  if (header.header_sum != sum_of(header)) throw Damage{"a wrong checksum of the header"};
  if (header.key != key) return "made of other data, settings or by another program";
  if (header.file_size != bytes.size())
    throw Damage{fmt::format("{} bytes, expected {}", bytes.size(), header.file_size)};
  if (header.small_size > bytes.size() - sizeof header || padding_after(header.small_size) != 0)
    throw Damage{"a length that lies"};  // the columns after it are read where they lie, aligned
  return "";
}

/// Whether every row has a value in every column and every feature.
bool is_whole(const PreparedMarket& market) {
  const Tape& tape = market.tape;
  for (const std::size_t size : {tape.mid.size(), tape.fill_mid.size(), tape.half_spread.size(), tape.session.size(),
                                 tape.instrument.size(), tape.flags.size()})
    if (size != tape.rows()) return false;
  const FeatureTable& features = market.features;
  return features.mean.size() == features.width() && features.deviation.size() == features.width() &&
         features.values.size() == tape.rows() * features.width();
}

PreparedMarket read_body(const std::shared_ptr<const MappedFile>& file, const Header& header) {
  const auto body = file->bytes().subspan(sizeof header);
  const auto small = body.first(header.small_size);
  if (xxh64(small) != header.small_sum) throw Damage{"a wrong checksum"};
  Reader reader(file, small, body.subspan(header.small_size));
  PreparedMarket market;
  visit(reader, market.tape, market.features);
  if (reader.sum() != header.column_sum || !reader.at_end()) throw Damage{"a wrong checksum"};
  if (!is_whole(market)) throw Damage{"columns of different lengths"};
  return market;
}

}  // namespace

CacheFileParts::CacheFileParts(const Tape& tape, const FeatureTable& features, std::uint64_t key) {
  Writer writer;
  visit(writer, tape, features);
  std::vector<std::byte>& small = writer.small();
  small.resize(small.size() + padding_after(small.size()));
  Header header;
  header.key = key;
  header.small_size = static_cast<std::uint32_t>(small.size());
  header.small_sum = xxh64(small);
  header.file_size = sizeof header + small.size();
  for (const auto column : writer.columns()) {
    header.column_sum = xxh64(column, header.column_sum);
    header.file_size += column.size();
  }
  header.header_sum = sum_of(header);
  const auto bytes = std::as_bytes(std::span(&header, 1));
  head_.assign(bytes.begin(), bytes.end());
  head_.insert(head_.end(), small.begin(), small.end());
  parts_.push_back(head_);
  parts_.insert(parts_.end(), writer.columns().begin(), writer.columns().end());
}

std::variant<PreparedMarket, std::string> parse_cache_file(const std::shared_ptr<const MappedFile>& file,
                                                           std::uint64_t key) {
  try {
    Header header;
    if (std::string why = check_header(file->bytes(), key, header); !why.empty()) return why;
    return read_body(file, header);
  } catch (const Damage& damage) {
    return "damaged: " + damage.what;
  }
}

}  // namespace foxhunt::market
