// Damaged books: one clear line, or, where the start is to be kept, rows that are all there without the damage.
#include <memory>
#include <optional>
#include <random>

#include "tests/market/book_fixture.h"

namespace foxhunt::market {
namespace {

ReadOptions keeping_start() {
  ReadOptions options;
  options.on_damage = DamagePolicy::keep_start;
  return options;
}

}  // namespace

TEST_CASE("books: a file cut anywhere is an error, or with keep_start the rows before the cut") {
  const std::string bytes = book_file(4, {2, 2, false});
  const std::size_t head = bytes.size() - 4 * 368;
  const Books whole = books_of(bytes);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    INFO("cut after " << size << " of " << bytes.size() << " bytes");
    const std::string cut = bytes.substr(0, size);
    if (size < head + 368) {  // no whole row
      error_of(ExitCode::data, [&] { books_of(cut); });
      error_of(ExitCode::data, [&] { books_of(cut, keeping_start()); });
      continue;
    }
    const std::size_t rows = (size - head) / 368, lost = (size - head) % 368;
    if (lost) require_says(error_of(ExitCode::data, [&] { books_of(cut); }), {"cut short after"});
    const Books kept = books_of(cut, keeping_start());
    REQUIRE(kept.rows() == rows);
    REQUIRE(is_start_of(kept, whole));
    REQUIRE(kept.notes.size() == (lost ? 1 : 0));
    if (lost)
      require_says(kept.notes[0], {"byte " + std::to_string(head + rows * 368), "kept the " + std::to_string(rows),
                                   "lost the " + std::to_string(lost) + " bytes"});
  }
}

TEST_CASE("books: compressed data cut anywhere is an error, or with keep_start the rows before the cut") {
  std::mt19937_64 random(test::seed());
  std::string bytes = dbn_metadata_bytes({3, 2, false});
  for (int i = 0; i < 400; ++i) {  // more than the decoder's first block, and hard to compress
    auto levels = ladder(100 + i, 101 + i);
    for (BookLevel& level : levels) level.bid_count = static_cast<std::uint32_t>(random());
    bytes += dbn_mbp_bytes(event_at(i), levels);
  }
  const Books whole = books_of(bytes);
  std::string packed;
  for (std::size_t at = 0; at < bytes.size(); at += 10'007) packed += zstd_frame(bytes.substr(at, 10'007));
  std::size_t most = 0;
  for (std::size_t size = 1; size < packed.size(); size += 1 + random() % 97) {
    INFO("cut after " << size << " of " << packed.size() << " bytes");
    const std::string cut = packed.substr(0, size);
    std::optional<Books> kept;
    try {
      kept = books_of(cut, keeping_start());
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
    }
    if (!kept) {  // before the first whole row
      REQUIRE(most == 0);
      continue;
    }
    REQUIRE(is_start_of(*kept, whole));
    most = std::max(most, kept->rows());
    if (kept->notes.empty())  // between two frames and two records: nothing shows that more was to come
      REQUIRE(same_rows(books_of(cut), *kept));
    else
      error_of(ExitCode::data, [&] { books_of(cut); });
  }
  REQUIRE(most > 370);
}

TEST_CASE("books: a flipped bit in compressed data never yields a row that was not there") {
  std::mt19937_64 random(test::seed());
  const std::string bytes = book_file(200);
  const Books whole = books_of(bytes);
  std::string packed;
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  packed.resize(ZSTD_compressBound(bytes.size()));
  packed.resize(ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size()));
  for (int trial = 0; trial < 300; ++trial) {
    std::string damaged = packed;
    damaged[4 + random() % (damaged.size() - 4)] ^= static_cast<char>(1 << random() % 8);
    Books books = whole;
    try {
      books = books_of(damaged);  // the bit may be one that no one reads
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
    }
    REQUIRE(same_rows(books, whole));
  }
}

TEST_CASE("books: bytes changed at random are read or refused, never worse") {
  std::mt19937_64 random(test::seed());
  int read = 0, refusals = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const DbnLayout layout{static_cast<std::uint8_t>(1 + trial % 3), static_cast<std::uint16_t>(trial % 4 ? 2 : 0xFFFF),
                           trial % 2 == 0};
    std::string bytes = book_file(3, layout);
    for (std::int64_t i = 0; i < 4; ++i) {
      Event order = event_at(10 + i);
      order.order = static_cast<std::uint64_t>(i), order.price = 100 * point;
      bytes += dbn_mbo_bytes(order);
    }
    for (std::uint64_t change = 1 + random() % 6; change; --change)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (trial % 5 == 0) bytes.resize(random() % bytes.size());
    ReadOptions options;
    options.on_damage = trial % 3 ? DamagePolicy::fail : DamagePolicy::keep_start;
    Books books;
    try {
      books = books_of(bytes, options);
      ++read;
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::data);
      ++refusals;
    }
    REQUIRE(std::is_sorted(books.ts_recv.begin(), books.ts_recv.end()));
    REQUIRE(books.level.size() == books.rows() * static_cast<std::size_t>(books.levels));
  }
  REQUIRE(read > 100);
  REQUIRE(refusals > 100);
}

TEST_CASE("books: bars keep their start too") {
  const std::string bytes = dbn_file({minute_bar(0, 1, 2), minute_bar(1, 1, 2), minute_bar(2, 1, 2)});
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn", bytes.substr(0, bytes.size() - 10));
  const Bars bars = read_bars(folder / "a.dbn", keeping_start());
  REQUIRE(bars.size() == 2);
  REQUIRE(bars.notes.size() == 1);
  require_says(bars.notes[0], {"a.dbn", "cut short after 46", "kept the 2 records", "lost the 46 bytes"});
  write_text(folder / "a.dbn", "DBX");  // no start to keep
  require_says(error_of(ExitCode::data, [&] { read_bars(folder / "a.dbn", keeping_start()); }), {"byte 0"});
}

}  // namespace foxhunt::market
