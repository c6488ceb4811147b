#include "core/market/csv_book_writer.h"
#include "core/market/dbn_book_writer.h"
#include "core/market/dbn_metadata.h"
#include "core/market/synth.h"
#include "core/market/writer.h"
#include "tests/market/book_fixture.h"

namespace foxhunt::market {
namespace {

Books some_books() {
  SynthOptions options;
  options.sessions = 4, options.rows = 3'000, options.seed = test::seed();
  return synthesize_books(options);
}

void require_round_trip(const Books& books, const char* name) {
  INFO(name << " seed " << test::seed());
  const test::TemporaryFolder folder;
  write_books(books, folder / name);
  const Books read = read_books(folder / name);
  REQUIRE(same_rows(read, books));
  REQUIRE(read.symbols == books.symbols);
  REQUIRE(read.schema == books.schema);
  REQUIRE(read.rejects.empty());
  REQUIRE(read.notes.empty());
  REQUIRE(read.volume_of_no_side == 0);
}

}  // namespace

TEST_CASE("book: what is written is read again, in every column and format") {
  const Books books = some_books();
  REQUIRE_FALSE(
      std::all_of(books.level.begin(), books.level.end(), [](const BookLevel& level) { return level.has_bid(); }));
  for (const char* name : {"a.dbn", "a.dbn.zst", "a.csv"}) require_round_trip(books, name);
}

TEST_CASE("book: snapshots of one level are written and read again") {
  Books books = some_books(), one = books;
  one.levels = 1, one.schema = "mbp-1", one.level = {};
  for (std::size_t i = 0; i < books.rows(); ++i) one.level.push_back(*books.row(i));
  for (const char* name : {"a.dbn", "a.dbn.zst", "a.csv"}) require_round_trip(one, name);
}

TEST_CASE("book: negative prices and all decimals survive") {
  Books books = some_books();
  for (BookLevel& level : books.level) {
    if (level.has_bid()) level.bid -= 5'100 * point + 1;
    if (level.has_ask()) level.ask -= 5'100 * point - 10;
  }
  for (const char* name : {"a.dbn", "a.csv"}) require_round_trip(books, name);
}

TEST_CASE("book: metadata names every contract and the days on which it has rows") {
  const test::TemporaryFolder folder;
  write_books(some_books(), folder / "a.dbn");
  ByteSource source(folder / "a.dbn");
  const DbnMetadata metadata = read_dbn_metadata(source);
  REQUIRE(metadata.version == 3);
  REQUIRE(metadata.dataset == "SYNTHETIC");
  REQUIRE(metadata.schema == dbn::schema::mbp10);
  REQUIRE(metadata.symbols == std::vector<std::string>{"ESH4", "ESM4"});
  REQUIRE(metadata.mappings.size() == 2);
  REQUIRE(metadata.mappings[0].start == 20240212);
  REQUIRE(metadata.mappings[0].end == 20240214);
  REQUIRE(metadata.mappings[1].mapped == "1002");
  REQUIRE(metadata.mappings[1].end == 20240216);
}

TEST_CASE("book: rows that a file cannot say are refused, and nothing is left behind") {
  const test::TemporaryFolder folder;
  const auto refused = [&](Books books) {
    for (const char* name : {"a.dbn.zst", "a.csv"})
      error_of(ExitCode::data, [&] { write_books(books, folder / name); });
    const std::string message = error_of(ExitCode::data, [&] { write_books(books, folder / "a.dbn"); });
    REQUIRE(std::filesystem::is_empty(folder.path()));
    return message;
  };
  const Books right = some_books();
  std::size_t row = 1;
  while (right.buy_volume[row] == 0) ++row;
  Books books = right;
  books.sell_volume[row] = 1;
  require_says(refused(books), {"row " + std::to_string(row), "buyers and of sellers", "one trade"});
  books = right, books.buy_volume[row] = 0, books.trade_price[row] += point;
  require_says(refused(books), {"row " + std::to_string(row), "price without volume"});
  books = right, books.trade_price[row] = no_price;
  require_says(refused(books), {"row " + std::to_string(row), "volume without a price"});
  require_says(refused(Books{}), {"no book"});
  require_says(error_of(ExitCode::usage, [&] { write_books(right, folder / "a.zip"); }), {"a.zip", ".dbn.zst"});
  require_says(error_of(ExitCode::storage, [&] { write_books(right, folder / "no" / "such.csv"); }), {"such.csv"});
}

}  // namespace foxhunt::market
