#include "core/market/summary.h"

#include "core/market/csv_writer.h"
#include "tests/market/dbn_bytes.h"
#include "tests/market/market_test.h"

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

TEST_CASE("dbn: a file without bars is described by its records") {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn",
             dbn_metadata_bytes({1, 2, false}) + dbn_record_bytes(0x0A, 92) + dbn_record_bytes(0x99, 9));
  require_lines(
      describe_market(folder / "a.dbn"),
      {"format     DBN version 1, dataset GLBX.MDP3", "records    1 mbp-10, 1 type 0x99", "schema     mbp-10 (no bars)",
       "symbols    ESH1", "span       1970-01-01 00:00:00.000000001 to none UTC, as asked for"});
}

TEST_CASE("csv: a file and a folder are described") {
  const test::TemporaryFolder folder;
  write_csv(bars_of({minute_bar(0, 1, 2), minute_bar(1, 1, 2)}), folder / "a.csv");
  for (const auto& path : {folder / "a.csv", folder.path()})
    require_lines(describe_market(path), {"schema     ohlcv-1m", "rows       2", "left out   none", "rolls      0"});
  require_says(error_of(ExitCode::data, [&] { describe_market(folder / "b.csv"); }), {"b.csv", "no such file"});
}

}  // namespace foxhunt::market
