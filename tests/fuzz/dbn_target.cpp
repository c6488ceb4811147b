// DBN files of any schema, plain or zstd: the input is the file.
#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/market/byte_source.h"
#include "core/market/dbn_book_reader.h"
#include "core/market/dbn_reader.h"
#include "core/market/definitions.h"
#include "core/market/summary.h"
#include "tests/fuzz/market_checks.h"
#include "tests/fuzz/target.h"
#include "tests/market/dbn_bytes.h"

namespace foxhunt::fuzz {
namespace {

using namespace market;

/// What is read of a file, or the lack of it.
struct Reading {
  std::optional<Bars> bars;
  std::optional<Books> books;
  std::optional<Trades> trades;
};

Reading read_all(const MemoryFile& file, const MemoryLimit& limit, const ReadOptions& options) {
  const std::filesystem::path path = file.path();
  Reading reading;
  attempt(limit, [&] { reading.bars = read_dbn_bars(path, options); });
  attempt(limit, [&] { reading.books = read_dbn_books({&path, 1}, options); });
  attempt(limit, [&] { reading.trades = read_dbn_trades({&path, 1}, options); });
  if (reading.bars) check_bars(*reading.bars);
  if (reading.books) check_books(*reading.books);
  if (reading.trades) check_trades(*reading.trades);
  return reading;
}

template <class Table>
bool same(std::optional<Table>& a, std::optional<Table>& b) {
  return a.has_value() == b.has_value() && (!a || same_rows(*a, *b));
}

}  // namespace

void fuzz_dbn(std::string_view input) {
  const MemoryFile file(input);
  const std::size_t size = decompressed_size<ByteSource>(file);
  if (size > most_decompressed) return;
  const MemoryLimit limit = with_zstd_window({std::max(input.size(), size)}, input);
  attempt(limit, [&] { describe_market(file.path()); });
  attempt(limit, [&] { read_definitions(file.path()); });
  Reading plain = read_all(file, limit, {});
  ReadOptions forgiving;
  forgiving.instrument = "ES", forgiving.on_damage = DamagePolicy::keep_start, forgiving.may_be_empty = true;
  read_all(file, limit, forgiving);
  if (!input.starts_with("DBN")) return;
  const MemoryFile compressed(zstd_frame(std::string(input)));
  Reading other = read_all(compressed, limit, {});
  require(same(plain.bars, other.bars) && same(plain.books, other.books) && same(plain.trades, other.trades),
          "a file and the same one compressed differ");
}

}  // namespace foxhunt::fuzz
