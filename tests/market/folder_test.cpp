#include "core/market/csv_writer.h"
#include "core/market/reader.h"
#include "tests/market/dbn_bytes.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

std::string refused(const std::filesystem::path& folder) {
  return error_of(ExitCode::data, [&] { read_bars(folder); });
}

}  // namespace

TEST_CASE("dbn: in a folder DBN comes before CSV") {
  const test::TemporaryFolder folder;
  write_csv(bars_of({minute_bar(0, 1, 2), minute_bar(1, 1, 2)}), folder / "a.csv");
  write_text(folder / "README.md", "about");
  REQUIRE(read_bars(folder.path()).size() == 2);
  write_text(folder / "b.dbn", dbn_file({minute_bar(0, 5, 6)}));
  const Bars bars = read_bars(folder.path());
  REQUIRE(bars.size() == 1);
  REQUIRE(bars.source == (folder / "b.dbn").string());
}

TEST_CASE("dbn: the files of a folder are read in the order of their names as one") {
  const test::TemporaryFolder folder;
  write_text(folder / "2.dbn.zst", zstd_frame(dbn_file({minute_bar(5, 7, 8, 1, 2), minute_bar(6, 7, 8, 1, 2)})));
  write_text(folder / "1.dbn", dbn_file({minute_bar(0, 5, 6), minute_bar(1, 0, 6)}));
  write_text(folder / "0.dbn", dbn_metadata_bytes({3, 2, false}) + dbn_record_bytes(0x0A, 92));  // a book: not bars
  const Bars bars = read_bars(folder.path());
  REQUIRE(same_bars(bars, bars_of({minute_bar(0, 5, 6), minute_bar(5, 7, 8, 1, 2), minute_bar(6, 7, 8, 1, 2)})));
  REQUIRE(bars.rejects.at("zero price") == 1);
  REQUIRE(bars.source == folder.path().string());
}

TEST_CASE("dbn: files of a folder that do not fit together are named") {
  const test::TemporaryFolder folder;
  write_text(folder / "1.dbn", dbn_file({minute_bar(0, 5, 6), minute_bar(5, 5, 6)}));
  write_text(folder / "2.dbn", dbn_file({minute_bar(5, 5, 6), minute_bar(9, 5, 6)}));
  require_says(refused(folder.path()),
               {"2.dbn starts at 2024-01-08 00:05:00", "1.dbn has ended at 2024-01-08 00:06:00"});
  write_text(folder / "2.dbn", dbn_metadata_bytes({3, 7, false}) + dbn_bar_bytes(minute_bar(60, 5, 6), 0x22));
  require_says(refused(folder.path()), {"1.dbn holds ohlcv-1m", "2.dbn ohlcv-1h"});
}

TEST_CASE("dbn: a folder without a market file, or with two CSV files, is named") {
  const test::TemporaryFolder folder;
  write_text(folder / "notes.txt", "nothing");
  std::filesystem::create_directory(folder / "x.dbn");  // a folder of that name is no file
  require_says(refused(folder.path()), {folder.path().string(), "no market file", ".dbn.zst"});
  write_text(folder / "a.csv", "x"), write_text(folder / "b.csv", "x");
  require_says(refused(folder.path()), {"2 CSV files", "a.csv", "b.csv"});
  write_text(folder / "book.dbn", dbn_metadata_bytes({3, 2, false}));
  require_says(refused(folder.path()), {"book.dbn", "schema mbp-10"});
}

}  // namespace foxhunt::market
