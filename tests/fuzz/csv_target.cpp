// CSV files of bars and of books, plain, gzip or zstd: two bytes that choose how to read, then the file.
#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/market/csv_book_reader.h"
#include "core/market/csv_reader.h"
#include "core/market/summary.h"
#include "core/market/text_source.h"
#include "tests/fuzz/market_checks.h"
#include "tests/fuzz/target.h"

namespace foxhunt::fuzz {
namespace {

using namespace market;

/// Takes choices off two bytes; '0' is 0, so that zeros in ASCII choose the defaults.
class Choices {
 public:
  explicit Choices(std::string_view bytes)
      : left_(static_cast<unsigned>((bytes[0] ^ '0') & 0xFF) | static_cast<unsigned>((bytes[1] ^ '0') & 0xFF) << 8) {}
  template <std::size_t N>
  const char* of(const std::array<const char*, N>& values) {
    const char* chosen = values[left_ % N];
    left_ /= N;
    return chosen;
  }
  bool yes() { return *of<2>({"", "yes"}); }

 private:
  unsigned left_;
};

ReadOptions options_of(std::string_view bytes) {
  Choices choose(bytes);
  ReadOptions options;
  CsvOptions& csv = options.csv;
  csv.time_format = choose.of<7>({"auto", "iso", "dotted", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns"});
  csv.delimiter = choose.of<5>({"auto", "comma", "semicolon", "tab", "pipe"});
  csv.decimal = choose.of<2>({"point", "comma"});
  csv.stamp = choose.of<3>({"auto", "open", "close"});
  csv.time_zone = choose.of<3>({"auto", "America/Chicago", "UTC"});
  options.instrument = choose.of<2>({"", "ES"});
  if (choose.yes()) options.on_damage = DamagePolicy::keep_start;
  if (choose.yes()) csv.features = {"6", "vwap"};
  if (choose.yes()) options.may_be_empty = true;
  return options;
}

}  // namespace

void fuzz_csv(std::string_view input) {
  if (input.size() < 2) return;
  const ReadOptions options = options_of(input);
  const MemoryFile file(input.substr(2));
  const std::size_t size = decompressed_size<TextSource>(file);
  if (size > most_decompressed) return;
  // A row of books is 366 bytes, and of a file as short as one of ten columns, five of which are empty.
  const MemoryLimit limit = with_zstd_window({std::max(size, input.size()), 160}, input.substr(2));

  attempt(limit, [&] {
    const Bars bars = read_csv_bars(file.path(), options);
    check_bars(bars);
    for (const ExtraColumn& column : bars.extra)
      require(column.values.size() == bars.size(), "a further column differs in length");
  });
  attempt(limit, [&] {
    Books books = read_csv_books(file.path(), options);
    check_books(books);
  });
  attempt(limit, [&] { describe_market(file.path(), options); });
}

}  // namespace foxhunt::fuzz
