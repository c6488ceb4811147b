// Feature caches: the input is a file, whose sums, sizes and key are then made right, so that what they protect is
// reached as well.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "core/checksum.h"
#include "core/market/cache_file.h"
#include "tests/fuzz/target.h"

namespace foxhunt::fuzz {
namespace {

using namespace market;

constexpr std::uint64_t key = 7;
constexpr std::size_t header_size = 64, alignment = 64;

std::uint64_t sum_of(std::string_view bytes, std::uint64_t seed = 0) {
  return xxh64(std::as_bytes(std::span(bytes)), seed);
}

template <class T>
void put(std::string& file, std::size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

/// Numbers off the front of the small values; 0 where there are none.
std::uint64_t take_number(std::string_view& small) {
  std::uint64_t value = 0;
  if (small.size() < sizeof value) return small = {}, 0;
  std::memcpy(&value, small.data(), sizeof value);
  small.remove_prefix(sizeof value);
  return value;
}

/// The sum over the ten columns, whose sizes follow the names of the features.
std::uint64_t sum_of_columns(std::string_view small, std::string_view columns) {
  for (std::uint64_t names = take_number(small); names > 0 && !small.empty(); --names) {
    const std::uint64_t length = take_number(small);  // first: it shortens what is left
    small.remove_prefix(std::min<std::uint64_t>(length, small.size()));
  }
  std::uint64_t sum = 0;
  for (int column = 0; column < 10; ++column) {
    const std::uint64_t size = std::min<std::uint64_t>(take_number(small), columns.size());
    const std::uint64_t padded =
        std::min<std::uint64_t>((size + alignment - 1) / alignment * alignment, columns.size());
    sum = sum_of(columns.substr(size, padded - size), sum_of(columns.substr(0, size), sum));
    columns.remove_prefix(padded);
  }
  return sum;
}

/// The header that a file with this body would have.
std::string repaired(std::string file) {
  file.resize(std::max(file.size(), header_size));
  std::uint32_t small_size = 0;
  std::memcpy(&small_size, file.data() + 12, sizeof small_size);
  small_size = std::min<std::uint32_t>(small_size, static_cast<std::uint32_t>(file.size() - header_size));
  const std::string_view body = std::string_view(file).substr(header_size);
  const std::string_view small = body.substr(0, small_size), columns = body.substr(small_size);
  const std::uint64_t small_sum = sum_of(small), column_sum = sum_of_columns(small, columns);
  std::memcpy(file.data(), "fxcache\n", 8);
  put(file, 12, small_size), put(file, 16, key), put(file, 24, std::uint64_t{file.size()});
  put(file, 32, small_sum), put(file, 40, column_sum);
  put(file, 56, sum_of(std::string_view(file).substr(0, 56)));
  return file;
}

/// The market that a file holds, if it is taken.
std::optional<PreparedMarket> parse(const std::string& bytes) {
  std::optional<PreparedMarket> market;
  attempt({bytes.size()}, [&] {
    auto parsed = parse_cache_file(MappedFile::open(MemoryFile(bytes).path()), key);
    if (const auto* why = std::get_if<std::string>(&parsed))
      require(!why->empty(), "a file that is not used, for no reason");
    else
      market = std::move(std::get<PreparedMarket>(parsed));
  });
  return market;
}

/// What is taken is read by every row and feature.
void check(const PreparedMarket& market) {
  const Tape& tape = market.tape;
  for (const std::size_t size : {tape.mid.size(), tape.fill_mid.size(), tape.half_spread.size(), tape.session.size(),
                                 tape.instrument.size(), tape.flags.size()})
    require(size == tape.rows(), "columns of a tape differ in length");
  const FeatureTable& features = market.features;
  require(features.values.size() == tape.rows() * features.width(), "features do not fill their table");
  require(features.mean.size() == features.width() && features.deviation.size() == features.width(),
          "statistics are not those of the features");
  [[maybe_unused]] volatile float last = 0;
  for (const float value : features.values) last = value;  // memory that is not there is met
}

}  // namespace

bool fxcache_is_taken(std::string_view input) { return parse(repaired(std::string(input))).has_value(); }

void fuzz_fxcache(std::string_view input) {
  parse(std::string(input));
  if (const auto market = parse(repaired(std::string(input)))) check(*market);
}

}  // namespace foxhunt::fuzz
