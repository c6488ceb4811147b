#include "core/market/summary.h"

#include "core/market/csv_writer.h"
#include "core/market/dbn_writer.h"
#include "tests/market/book_fixture.h"
#include "tests/market/session_fixture.h"

namespace foxhunt::market {
namespace {

void require_lines(const std::string& text, std::initializer_list<std::string> lines) {
  for (const std::string& line : lines) {
    INFO(text << "should have the line '" << line << "'");
    REQUIRE(text.find("\n  " + line + "\n") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("dbn: a file of bars is described") {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn", dbn_file({minute_bar(0, 100, 101), minute_bar(1, 0, 101), minute_bar(3, 101, 102),
                                         minute_bar(99, 90, 91), minute_bar(100, 200, 201, 1, 2)}));
  require_lines(describe_market(folder / "a.dbn"),
                {"format     DBN version 3, dataset GLBX.MDP3", "records    5 ohlcv-1m", "schema     ohlcv-1m",
                 "symbols    ESH1 (instrument 1, 3 rows), unnamed (instrument 2, 1 rows)",
                 "span       2024-01-08 00:00:00 to 2024-01-08 01:41:00 UTC", "rows       4", "left out   1 zero price",
                 "closes     91 to 201", "sessions   3", "gaps       1 within sessions",
                 "rolls      1; 2024-01-08 01:40:00: instrument 1 at 91 to 2 at 200"});
  require_lines(describe_market(folder / "a.dbn", {}, {100 * ns_per_minute}),
                {"sessions   2", "gaps       2 within sessions"});
}

TEST_CASE("dbn: the calendar of the contract, early closes and rows outside the hours are described") {
  const test::TemporaryFolder folder;
  Bars bars;
  trade(bars, "2024-01-07 23:00", "2024-01-08 22:02");
  trade(bars, "2024-01-08 23:00", "2024-01-09 18:15");
  trade(bars, "2024-01-09 23:00", "2024-01-10 22:00");
  bars.symbols[1] = "ESH4";
  write_dbn(bars, folder / "a.dbn");
  require_lines(describe_market(folder / "a.dbn"),
                {"note       2 of 3917 rows lie outside the hours of the calendar cme-equity-index; they stay "
                 "(data.calendar)",
                 "note       1 trading day of the calendar cme-equity-index ended early: 2024-01-09 18:15:00 UTC",
                 "calendar   cme-equity-index", "sessions   3"});
  require_lines(describe_market(folder / "a.dbn", {}, {30 * ns_per_minute, "none"}), {"calendar   none"});
}

TEST_CASE("books: a file of books is described") {
  const test::TemporaryFolder folder;
  auto one_sided = ladder(100, 101);
  one_sided[0].bid = no_price;
  std::string bytes = dbn_metadata_bytes({1, 2, false}) + dbn_record_bytes(0x99, 9);
  bytes += dbn_mbp_bytes(trade_at(0, 'B', 101, 3), ladder(100, 101));
  bytes += dbn_mbp_bytes(trade_at(90, 'N', 101, 4), ladder(102, 101)) + dbn_mbp_bytes(event_at(90), one_sided);
  bytes += dbn_mbp_bytes(trade_at(9000, 'A', 101, 5), ladder(110, 113));
  write_text(folder / "a.dbn", bytes);
  require_lines(describe_market(folder / "a.dbn"),
                {"format     DBN version 1, dataset GLBX.MDP3", "records    4 mbp-10, 1 type 0x99", "schema     mbp-10",
                 "symbols    ESH1 (instrument 1, 3 rows)",
                 "span       2024-01-08 00:00:00.000000005 to 2024-01-08 02:30:00.000000005 UTC, as received",
                 "rows       3", "left out   1 crossed book, 1 unknown record type", "crossed    1 rows",
                 "levels     10; 2 rows have all of them on both sides, 1 are one-sided", "mids       100.5 to 111.5",
                 "traded     3 contracts bought, 5 sold by aggressors, 4 without one", "sessions   2",
                 "gaps       1 of over a minute within sessions, the longest 90 s", "rolls      0"});
  write_text(folder / "a.dbn", bytes.substr(0, bytes.size() - 1));
  require_says(error_of(ExitCode::data, [&] { describe_market(folder / "a.dbn"); }), {"cut short"});
  ReadOptions options;
  options.on_damage = DamagePolicy::keep_start;
  const std::string text = describe_market(folder / "a.dbn", options);
  REQUIRE(text.find("  note       ") != std::string::npos);
  require_lines(text, {"rows       2"});
}

TEST_CASE("books: a file whose books are all empty is described, though not trained on") {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn", dbn_metadata_bytes({3, 2, false}) + dbn_record_bytes(0x0A, 92));
  require_lines(describe_market(folder / "a.dbn"),
                {"records    1 mbp-10", "rows       0", "left out   1 empty book", "mids       none", "sessions   0"});
  require_says(error_of(ExitCode::data, [&] { read_books(folder / "a.dbn"); }), {"1 empty book"});
}

TEST_CASE("trades: a file of trades is described") {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn", dbn_metadata_bytes({3, 4, false}) + dbn_mbp_bytes(trade_at(0, 'B', 101, 3), {}) +
                                   dbn_mbp_bytes(trade_at(1, 'A', 99, 4), {}));
  require_lines(describe_market(folder / "a.dbn"),
                {"schema     trades", "rows       2", "prices     99 to 101", "traded     7 contracts", "sessions   1",
                 "gaps       0 of over a minute within sessions", "rolls      0"});
}

TEST_CASE("dbn: a file of a schema that is not read is described by its metadata") {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn",
             dbn_metadata_bytes({1, 10, false}) + dbn_record_bytes(0x18, 16) + dbn_record_bytes(0x99, 9));
  require_lines(describe_market(folder / "a.dbn"),
                {"format     DBN version 1, dataset GLBX.MDP3", "records    1 statistics, 1 type 0x99",
                 "schema     statistics (nothing to train on)", "symbols    ESH1",
                 "span       1970-01-01 00:00:00.000000001 to none UTC, as asked for"});
}

TEST_CASE("csv: a file and a folder are described") {
  const test::TemporaryFolder folder;
  write_csv(bars_of({minute_bar(0, 1, 2), minute_bar(1, 1, 2)}), folder / "a.csv");
  for (const auto& path : {folder / "a.csv", folder.path()})
    require_lines(describe_market(path), {"schema     ohlcv-1m", "rows       2", "left out   none", "rolls      0"});
  require_says(error_of(ExitCode::data, [&] { describe_market(folder / "b.csv"); }), {"b.csv", "no such file"});
}

}  // namespace foxhunt::market
