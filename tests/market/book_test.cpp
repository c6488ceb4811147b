#include "core/market/dbn_format.h"
#include "tests/market/book_fixture.h"

namespace foxhunt::market {
namespace {

void require_row(const Books& books, std::size_t row, const std::vector<BookLevel>& levels) {
  REQUIRE(row < books.rows());
  REQUIRE(std::equal(levels.begin(), levels.end(), books.row(row)));
}

std::string two_instruments() {
  std::string bytes = dbn_metadata_bytes({3, 2, false, {{"ESH4", 1}, {"NQH4", 2}}});
  for (std::int64_t i = 0; i < 6; ++i) bytes += dbn_mbp_bytes(event_at(i, i % 2 ? 2 : 1), ladder(100 + i, 101 + i));
  return bytes;
}

ReadOptions choosing(const std::string& instrument) {
  ReadOptions options;
  options.instrument = instrument;
  return options;
}

}  // namespace

TEST_CASE("books: rows of mbp-10, in every version, with and without a send time, from any address") {
  const Books expected = books_of(book_file(5));
  REQUIRE(expected.rows() == 5);
  REQUIRE(expected.levels == 10);
  REQUIRE(expected.level.size() == 50);
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto row = static_cast<std::size_t>(i);
    require_row(expected, row, ladder(100 + i, 101 + i));
    CHECK(expected.ts_event[row] == monday + i * ns_per_second);
    CHECK(expected.ts_recv[row] == expected.ts_event[row] + 5);
    CHECK(expected.trade_price[row] == no_price);
    CHECK(expected.instrument[row] == 1);
  }
  CHECK(expected.symbols.at(1) == "ESH1");
  CHECK(expected.schema == "mbp-10");
  CHECK(expected.rejects.empty());
  for (const std::uint8_t version : {1, 2, 3})
    for (const bool ts_out : {false, true}) REQUIRE(same_rows(books_of(book_file(5, {version, 2, ts_out})), expected));
  for (std::size_t symbol = 6; symbol < 14; ++symbol) {  // three symbols in the metadata: any remainder of 8
    const DbnLayout layout{2, 2, false, {{"ESH1", 1}}, symbol};
    REQUIRE(same_rows(books_of(book_file(5, layout)), expected));
  }
}

TEST_CASE("books: zstd frames cut anywhere, skippable ones between them") {
  const std::string bytes = book_file(5);
  const Books expected = books_of(bytes);
  for (const std::size_t cut : {1, 7, 100, 367, 368, 369, 2000}) {
    std::string pieces = skippable_frame("seek table");
    for (std::size_t at = 0; at < bytes.size(); at += cut)
      pieces += zstd_frame(bytes.substr(at, cut)) + skippable_frame("x");
    REQUIRE(same_rows(books_of(pieces), expected));
  }
}

TEST_CASE("books: rows of mbp-1 and tbbo have one level") {
  for (const std::uint16_t schema : {dbn::schema::mbp1, dbn::schema::tbbo}) {
    std::string bytes = dbn_metadata_bytes({3, schema, false});
    for (std::int64_t i = 0; i < 3; ++i) bytes += dbn_mbp_bytes(event_at(i), ladder(100 + i, 101, 1));
    const Books books = books_of(bytes);
    REQUIRE(books.levels == 1);
    REQUIRE(books.rows() == 2);  // the last two are locked at 101 and crossed
    require_row(books, 1, ladder(101, 101, 1));
    REQUIRE(books.schema == dbn::schema_name(schema));
    REQUIRE(books.rejects == std::map<std::string, std::int64_t>{{"crossed book", 1}});
  }
}

TEST_CASE("books: what traded since the row before, by aggressor") {
  const auto book = ladder(100, 101), crossed = ladder(102, 101);
  std::string bytes = dbn_metadata_bytes({3, 2, false});
  bytes += dbn_mbp_bytes(event_at(0), book);
  bytes += dbn_mbp_bytes(trade_at(1, 'B', 101, 3), book);
  bytes += dbn_mbp_bytes(trade_at(2, 'B', 101, 4), crossed) + dbn_mbp_bytes(trade_at(3, 'A', 100, 5), crossed);
  bytes += dbn_mbp_bytes(trade_at(4, 'N', 99, 50), book);
  Event priceless = trade_at(5, 'B', 1, 6);
  priceless.price = no_price;
  bytes += dbn_mbp_bytes(priceless, book) + dbn_mbp_bytes(event_at(6), book);
  const Books books = books_of(bytes);
  CHECK(books.trade_price == Column<std::int64_t>{no_price, 101 * point, 99 * point, 99 * point, 99 * point});
  CHECK(books.buy_volume == Column<std::uint32_t>{0, 3, 4, 0, 0});
  CHECK(books.sell_volume == Column<std::uint32_t>{0, 0, 5, 0, 0});
  CHECK(books.volume_of_no_side == 50);
  CHECK(books.rejects == std::map<std::string, std::int64_t>{{"crossed book", 2}, {"trade without a price", 1}});
}

TEST_CASE("books: rows that cannot be true are left out and counted, odd ones stay") {
  auto no_bid = ladder(100, 101), no_ask = no_bid, no_size = no_bid, empty = no_bid, zero = ladder(-1, 0);
  no_bid[0].bid = no_price, no_ask[0].ask = no_price, no_size[0].bid_size = 0;
  empty[0].bid = empty[0].ask = no_price;
  auto sizeless = ladder(100, 101);
  sizeless[0].bid_size = sizeless[0].ask_size = 0;
  Event timeless = event_at(0);
  timeless.ts = -9;  // its time of receipt lies beyond 2^63
  std::string bytes = dbn_metadata_bytes({3, 2, false});
  for (const auto& [seconds, book] : {std::pair{1, no_bid},
                                      {2, no_ask},
                                      {3, no_size},
                                      {4, empty},
                                      {5, sizeless},
                                      {6, ladder(102, 101)},
                                      {7, ladder(101, 101)},
                                      {7, ladder(-3, -2)},
                                      {6, zero},
                                      {8, zero}})
    bytes += dbn_mbp_bytes(event_at(seconds), book);
  bytes += dbn_mbp_bytes(timeless, zero);
  const Books books = books_of(bytes);
  REQUIRE(books.rejects ==
          std::map<std::string, std::int64_t>{
              {"empty book", 2}, {"crossed book", 1}, {"time goes backwards", 1}, {"undefined time", 1}});
  REQUIRE(books.rows() == 6);
  const bool two_sided[] = {false, false, false, true, true, true};
  for (std::size_t i = 0; i < 6; ++i) CHECK(books.two_sided(i) == two_sided[i]);
  CHECK(books.row(0)->bid == no_price);
  CHECK(books.ts_recv[3] == books.ts_recv[4]);  // a shared time of receipt
}

TEST_CASE("books: one instrument at a time, chosen by id, symbol, parent or root") {
  const std::string bytes = two_instruments();
  for (const char* name : {"2", "NQH4", "NQ.FUT", "NQ"}) {
    const Books books = books_of(bytes, choosing(name));
    REQUIRE(books.instrument == Column<std::uint32_t>{2, 2, 2});
    REQUIRE(books.row(0)->bid == 101 * point);
    REQUIRE(books.rejects == std::map<std::string, std::int64_t>{{"not the chosen instrument", 3}});
  }
  const Books front = books_of(bytes);  // nothing traded; both have rows, the first more in the first minute
  REQUIRE(front.instrument == Column<std::uint32_t>{1, 1, 1});
  REQUIRE(front.rejects.at("not the front contract") == 3);
  require_says(error_of(ExitCode::data, [&] { books_of(bytes, choosing("CLZ4")); }),
               {"books.dbn", "\"CLZ4\"", "ESH4 (1), NQH4 (2)"});
}

TEST_CASE("books: the volumes of an instrument pass over the rows of another") {
  const auto book = ladder(100, 101);
  std::string bytes = dbn_metadata_bytes({3, 2, false, {{"ESH4", 1}, {"ESM4", 2}}});
  bytes += dbn_mbp_bytes(trade_at(0, 'B', 101, 3, 1), ladder(102, 101)) + dbn_mbp_bytes(event_at(1, 2), book);
  bytes += dbn_mbp_bytes(event_at(2, 1), book);
  REQUIRE(books_of(bytes, choosing("ESH4")).buy_volume == Column<std::uint32_t>{3});
  REQUIRE(books_of(bytes, choosing("ESM4")).buy_volume == Column<std::uint32_t>{0});
}

TEST_CASE("books: a mixed file yields its snapshots, and counts what is none") {
  std::string bytes = dbn_metadata_bytes({2, 0xFFFF, false});
  bytes += dbn_record_bytes(0x77, 5) + dbn_mbp_bytes(event_at(0), ladder(100, 101));
  bytes += dbn_mbp_bytes(event_at(0), ladder(100, 101, 1)) + dbn_bar_bytes(minute_bar(0, 1, 2));
  const Books books = books_of(bytes);
  REQUIRE(books.rows() == 1);
  REQUIRE(books.schema == "mbp-10");
  REQUIRE(books.rejects == std::map<std::string, std::int64_t>{{"not a book row", 2}, {"unknown record type", 1}});
}

TEST_CASE("books: a file without one says what it holds, a record of a wrong size where it is") {
  const auto refused = [](const std::string& bytes) { return error_of(ExitCode::data, [&] { books_of(bytes); }); };
  require_says(refused(dbn_file({minute_bar(0, 1, 2)})), {"no book", "schema ohlcv-1m", "mbp-10"});
  require_says(refused(dbn_metadata_bytes({3, 0xFFFF, false}) + dbn_bar_bytes(minute_bar(0, 1, 2))), {"schema mixed"});
  require_says(refused(book_file(0)), {"schema mbp-10", "no record at all"});
  require_says(refused(dbn_metadata_bytes({3, 2, false}) + dbn_mbp_bytes(event_at(0), ladder(102, 101))),
               {"1 crossed book"});
  require_says(refused(book_file(2) + dbn_record_bytes(0x0A, 20)),
               {"byte ", "mbp-10 record of 80 bytes", "expected 368"});
}

TEST_CASE("books: the files of a folder are read in the order of their names as one") {
  const test::TemporaryFolder folder;
  const DbnLayout layout{3, 2, false};
  const auto record = [](std::int64_t i) { return dbn_mbp_bytes(trade_at(i, 'B', 100, 2), ladder(100 + i, 101 + i)); };
  const auto crossed = dbn_mbp_bytes(trade_at(2, 'B', 100, 5), ladder(102, 101));
  write_text(folder / "1.dbn", dbn_metadata_bytes(layout) + record(0) + record(1) + crossed);
  write_text(folder / "2.dbn.zst", zstd_frame(dbn_metadata_bytes(layout) + record(3)));
  write_text(folder / "0.dbn", dbn_file({minute_bar(0, 1, 2)}));  // bars: not a book
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;
  ReadOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t total) { progress.emplace_back(done, total); };
  const Books books = read_books(folder.path(), options);
  REQUIRE(books.buy_volume == Column<std::uint32_t>{2, 2, 7});
  REQUIRE(books.source == folder.path().string());
  const std::uint64_t total =
      std::filesystem::file_size(folder / "1.dbn") + std::filesystem::file_size(folder / "2.dbn.zst");
  REQUIRE(progress.back() == std::pair{total, total});
  REQUIRE(std::is_sorted(progress.begin(), progress.end()));
  write_text(folder / "3.dbn", dbn_metadata_bytes({3, 1, false}) + dbn_mbp_bytes(event_at(9), ladder(1, 2, 1)));
  require_says(error_of(ExitCode::data, [&] { read_books(folder.path()); }), {"1.dbn holds mbp-10", "3.dbn mbp-1"});
}

TEST_CASE("books: content of files and folders") {
  const test::TemporaryFolder folder;
  const auto content = [&](const std::string& bytes) {
    write_text(folder / "a.dbn", bytes);
    return market_content_of(folder / "a.dbn");
  };
  using enum MarketContent;
  CHECK(content(dbn_file({})) == bars);
  for (const std::uint16_t schema : {0, 1, 2, 3}) CHECK(content(dbn_metadata_bytes({3, schema, false})) == books);
  CHECK(content(dbn_metadata_bytes({3, 4, false})) == trades);
  CHECK(content(dbn_metadata_bytes({3, 9, false})) == definitions);
  CHECK(content(dbn_metadata_bytes({3, 10, false})) == other);
  const std::string mixed = dbn_metadata_bytes({3, 0xFFFF, false});
  CHECK(content(mixed) == other);
  CHECK(content(mixed + dbn_mbp_bytes(event_at(0), {})) == trades);
  CHECK(content(mixed + dbn_mbp_bytes(event_at(0), {}) + dbn_mbo_bytes(event_at(0))) == books);
  CHECK(market_content_of(folder.path()) == books);
  write_text(folder / "b.dbn", dbn_file({}));
  CHECK(market_content_of(folder.path()) == bars);
}

}  // namespace foxhunt::market
