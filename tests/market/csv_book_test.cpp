// Books as CSV, in Databento's layout and in plainer ones.
#include "tests/market/book_fixture.h"
#include "tests/market/csv_text.h"

namespace foxhunt::market {
namespace {

/// Random books with trades of one side a row, some with sides or levels that are not there.
Books random_books(int levels, std::size_t rows, std::mt19937_64& random) {
  Books books;
  books.levels = levels;
  std::int64_t ts = monday, last_trade = no_price;
  for (std::size_t i = 0; i < rows; ++i) {
    auto row = ladder(4000 + static_cast<std::int64_t>(random() % 100), 4100, static_cast<std::size_t>(levels));
    for (std::size_t k = 1; k < row.size(); ++k)
      if (random() % 5 == 0) row[k] = BookLevel{};
    if (random() % 7 == 0) row[0].ask = no_price, row[0].ask_size = row[0].ask_count = 0;
    books.level.append(row.data(), row.size());
    const bool trade = random() % 3 == 0, buys = random() % 2;
    if (trade) last_trade = (4000 + static_cast<std::int64_t>(random() % 100)) * point + 250'000'000;
    const std::uint32_t size = trade ? 1 + static_cast<std::uint32_t>(random() % 9) : 0;
    books.buy_volume.push_back(buys ? size : 0), books.sell_volume.push_back(buys ? 0 : size);
    books.trade_price.push_back(last_trade);
    books.ts_recv.push_back(ts), books.ts_event.push_back(ts - 7);
    books.instrument.push_back(5);
    ts += static_cast<std::int64_t>(random() % 1000);
  }
  return books;
}

struct BookStyle {
  bool decimal = false, iso = false;
};

/// As Databento's CSV encoding has it.
std::string book_text(const Books& books, const BookStyle& style) {
  const auto price = [&](std::int64_t value) -> std::string {
    if (!style.decimal) return std::to_string(value);
    if (value == no_price) return "";
    const std::string text = format_price(value);
    return text.find('.') == std::string::npos ? text + ".000000000" : text;
  };
  const auto time = [&](std::int64_t ts) { return style.iso ? format_utc(ts) + "Z" : std::to_string(ts); };
  std::string text = "ts_recv,ts_event,rtype,publisher_id,instrument_id,action,side,depth,price,size,flags";
  for (int k = 0; k < books.levels; ++k)
    text += fmt::format(",bid_px_{0:02},ask_px_{0:02},bid_sz_{0:02},ask_sz_{0:02},bid_ct_{0:02},ask_ct_{0:02}", k);
  text += ",symbol\n";
  for (std::size_t i = 0; i < books.rows(); ++i) {
    const std::uint32_t bought = books.buy_volume[i], sold = books.sell_volume[i];
    const bool trade = bought + sold > 0;
    text += fmt::format("{},{},10,1,{},{},{},0,{},{},130", time(books.ts_recv[i]), time(books.ts_event[i]),
                        books.instrument[i], trade ? 'T' : 'A', bought ? 'B' : 'A',
                        price(trade ? books.trade_price[i] : 4000 * point), trade ? bought + sold : 99);
    for (int k = 0; k < books.levels; ++k) {
      const BookLevel& level = books.row(i)[k];
      text += fmt::format(",{},{},{},{},{},{}", price(level.bid), price(level.ask), level.bid_size, level.ask_size,
                          level.bid_count, level.ask_count);
    }
    text += ",ESH4\n";
  }
  return text;
}

Books read(const std::string& text, const ReadOptions& options = {}) {
  const test::TemporaryFolder folder;
  write_text(folder / "books.csv", text);
  REQUIRE(market_content_of(folder / "books.csv") == MarketContent::books);
  return read_books(folder / "books.csv", options);
}

std::string refused(const std::string& text) {
  const test::TemporaryFolder folder;
  write_text(folder / "books.csv", text);
  const std::string message = error_of(ExitCode::data, [&] { read_books(folder / "books.csv"); });
  require_says(message, {(folder / "books.csv").string()});
  return message;
}

}  // namespace

TEST_CASE("csv: books of one and of ten levels, in decimals and in 1e-9 units, with times of both kinds") {
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 20; ++trial)
    for (const int levels : {1, 10}) {
      const Books books = random_books(levels, 1 + random() % 60, random);
      for (const BookStyle style : {BookStyle{false, false}, BookStyle{true, true}, BookStyle{true, false}}) {
        const std::string text = book_text(books, style);
        for (const std::string& bytes : {text, gzip(text)}) {
          const Books found = read(bytes);
          REQUIRE(same_rows(found, books));
          REQUIRE(found.symbols.at(5) == "ESH4");
          REQUIRE(found.schema == (levels == 1 ? "mbp-1" : "mbp-10"));
          REQUIRE(found.rejects.empty());
        }
      }
    }
}

TEST_CASE("csv: top of book under plain names, with and without sizes") {
  const std::string text =
      "time,bid,ask,bid_size,ask_size\n2024-01-08 00:00:00,10,10.5,3,4\n2024-01-08 00:00:01,10,,3,0\n";
  const Books books = read(text);
  REQUIRE(books.rows() == 2);
  REQUIRE(books.levels == 1);
  CHECK(books.ts_recv[0] == monday);
  CHECK(*books.row(0) == BookLevel{10 * point, 21 * point / 2, 3, 4, 0, 0});
  CHECK(books.two_sided(0));
  CHECK_FALSE(books.two_sided(1));
  const Books bare = read("Gmt time;Ask;Bid\n08.01.2024 00:00:00.000;10.5;10\n08.01.2024 00:00:00.250;10.5;10\n");
  CHECK(*bare.row(1) == BookLevel{10 * point, 21 * point / 2, 1, 1, 0, 0});
  CHECK(bare.ts_recv[1] == monday + 250'000'000);
  REQUIRE(bare.notes.size() == 2);
  require_says(bare.notes[1], {"taken as 1"});
}

TEST_CASE("csv: rows of a book that cannot be true are left out and counted") {
  const Books books = read(
      "ts_recv,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00\n2024-01-08 00:00:01,10,11,1,1\n2024-01-08 00:00:02,12,11,1,1\n"
      "2024-01-08 00:00:03,nan,,1,1\n2024-01-08 00:00:00,10,11,1,1\nNaT,10,11,1,1\n2024-01-08 00:00:04,-1,0,1,1\n");
  REQUIRE(books.rows() == 2);
  REQUIRE(books.rejects ==
          std::map<std::string, std::int64_t>{
              {"crossed book", 1}, {"empty book", 1}, {"time goes backwards", 1}, {"undefined time", 1}});
  CHECK(books.row(1)->bid == -point);
}

TEST_CASE("csv: books in local time, of one instrument of several") {
  ReadOptions options;
  options.csv.time_zone = "America/Chicago";
  options.instrument = "NQ";
  const Books books = read(
      "time,bid,ask,symbol\n2024-01-08 00:00:00,10,11,ESH4\n2024-01-08 00:00:00,20,21,NQH4\n"
      "2024-01-08 00:00:01,20,22,NQH4\n",
      options);
  REQUIRE(books.rows() == 2);
  CHECK(books.ts_recv[0] == monday + 6 * ns_per_hour);
  CHECK(books.rejects.at("not the chosen instrument") == 1);
}

TEST_CASE("csv: books through the hour that a clock shows twice") {
  ReadOptions options;
  options.csv.time_zone = "America/Chicago";
  const Books books = read(
      "ts_recv,ts_event,bid,ask\n2024-11-03 01:59:59,2024-11-03 01:59:58,10,11\n"
      "2024-11-03 01:59:59,2024-11-03 01:59:59,10,12\n2024-11-03 01:00:00,2024-11-03 01:59:59,10,11\n"
      "2024-11-03 01:00:00,2024-11-03 01:00:00,10,12\n2024-11-03 02:00:00,2024-11-03 01:59:59,10,11\n",
      options);
  const std::int64_t seven = parse_time("2024-11-03 07:00", TimeFormat::iso)->ns, second = ns_per_second;
  REQUIRE(books.ts_recv == Column<std::int64_t>{seven - second, seven - second, seven, seven, seven + ns_per_hour});
  REQUIRE(books.ts_event == Column<std::int64_t>{seven - 2 * second, seven - second, seven - second, seven,
                                                 seven + ns_per_hour - second});
}

TEST_CASE("csv: books that cannot be read are named by line and column") {
  const std::string header = "time,bid,ask,bid_size,ask_size\n";
  require_says(refused(header + "2024-01-08,10,eleven,1,1\n"), {"line 2", "column 3", "'eleven'"});
  require_says(refused(header + "2024-01-08,10,11,-1,1\n"), {"line 2", "column 4", "'-1'"});
  require_says(refused(header + "2024-01-08,10,11,1\n"), {"line 2", "4 fields, expected 5"});
  require_says(refused(header + "today,10,11,1,1\n"), {"line 2", "time 'today'"});
  require_says(refused("when,bid,ask\n1,2,3\n"), {"line 1", "no time", "data.csv_time_column"});
  require_says(refused("time,open,high,low,close\n1,2,3,4,5\n"), {"line 1", "bid_px_00"});
  require_says(refused(header), {"no usable row", "no row of data"});
  require_says(refused(header + "2024-01-08,12,11,1,1\n"), {"1 crossed book"});
}

TEST_CASE("csv: any cut of a file of books is an error, or the rows before it") {
  std::mt19937_64 random(test::seed());
  const Books books = random_books(10, 6, random);
  const std::string text = book_text(books, {}), packed = gzip(text);
  ReadOptions keep;
  keep.on_damage = DamagePolicy::keep_start;
  const test::TemporaryFolder folder;
  for (const std::string& bytes : {text, packed})
    for (std::size_t size = 0; size < bytes.size(); size += 1 + random() % 5) {
      write_text(folder / "books.csv", bytes.substr(0, size));
      for (const ReadOptions& options : {ReadOptions{}, keep}) {
        INFO("cut at " << size);
        try {
          const Books found = read_books(folder / "books.csv", options);
          // The very last field is the symbol, which may be cut and not be seen.
          REQUIRE(is_start_of(found, books));
        } catch (const Error& error) {
          REQUIRE(error.code() == ExitCode::data);
        }
      }
    }
}

TEST_CASE("csv: a real book is the same as CSV") {
  const auto file = real_data() / "dbn-market" / "esh4-20231225.mbp-10.v3.dbn.zst";
  if (!std::filesystem::exists(file)) return test::skip("no real market files beside the source tree");
  Books books = read_books(file);
  // Rows left out passed their trades on: what a row of CSV says of one trade is compared elsewhere.
  each_column(books, [](auto& column, std::size_t width) { column.truncate(5000 * width); });
  for (auto* volume : {&books.buy_volume, &books.sell_volume})
    for (std::uint32_t& size : *volume) size = 0;
  for (std::int64_t& price : books.trade_price) price = no_price;
  REQUIRE(same_rows(read(book_text(books, {true, true})), books));
}

}  // namespace foxhunt::market
