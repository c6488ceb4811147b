#include "core/market/csv_reader.h"

#include "core/market/csv_writer.h"
#include "core/market/reader.h"
#include "core/market/synth.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

Bars read(const std::string& text, const ReadOptions& options = {}) {
  const test::TemporaryFolder folder;
  write_text(folder / "bars.csv", text);
  return read_bars(folder / "bars.csv", options);
}

std::string refused(const std::string& text) {
  const test::TemporaryFolder folder;
  write_text(folder / "bars.csv", text);
  const std::string message = error_of(ExitCode::data, [&] { read_bars(folder / "bars.csv"); });
  require_says(message, {(folder / "bars.csv").string()});
  return message;
}

// Two bars, and their prices and volume as text.
const Bar early{monday, 1'676'750'000'000, 1'677'250'000'000, 1'673'500'000'000, 1'675'250'000'000, 1884, 0};
const Bar late{monday + ns_per_minute, -100'000'000, 500'000'001, -2'000'000'000, 3, 7, 0};
const std::string early_text = ",1676.75,1677.25,1673.5,1675.25,1884\n";
const std::string late_text = ",-0.1,0.500000001,-2,0.000000003,7\n";
const std::string header = "ts_event,open,high,low,close,volume\n";
const std::string good = header + "2024-01-08 00:00" + early_text + "2024-01-08 00:01" + late_text;

void require_both(const Bars& bars) {
  REQUIRE(same_bars(bars, bars_of({early, late})));
  REQUIRE(bars.schema == "ohlcv-1m");
  REQUIRE(bars.rejects.empty());
}

}  // namespace

TEST_CASE("csv: times of every kind, with and without a header, oldest or newest first") {
  const std::pair<std::string, std::string> times[] = {
      {"2024-01-08T00:00:00Z", "2024-01-08T00:01:00Z"},
      {"2024-01-08 00:00:00", "2024-01-08 00:01:00"},
      {"2024-01-08 00:00", "2024-01-08 00:01"},
      {"2024-01-08T00:00:00.000000000Z", "2024-01-08T00:01:00.000000000Z"},
      {"2024-01-08 01:30:00+01:30", "2024-01-08 01:31:00+01:30"},
      {"2024-01-07T18:00:00-0600", "2024-01-07T18:01:00-0600"},
      {"2024/01/08 00:00:00", "2024/01/08 00:01:00"},
      {"20240108 00:00", "20240108 00:01"},
      {"08.01.2024 00:00:00.000", "08.01.2024 00:01:00.000"},
      {"1704672000", "1704672060"},
      {"1704672000.0", "1704672060.0"},
      {"1704672000000", "1704672060000"},
      {"1704672000000000", "1704672060000000"},
      {"1704672000000000000", "1704672060000000000"},
  };
  for (const auto& [first, second] : times) {
    INFO(first);
    require_both(read(header + first + early_text + second + late_text));
    require_both(read(header + second + late_text + first + early_text));
    require_both(read(first + early_text + second + late_text));
  }
}

TEST_CASE("csv: a fraction of a second and a date alone are times") {
  const Bars seconds = read("2024-01-08 00:00:00.25,5,5,5,5,1\n2024-01-08 00:00:01.25,5,5,5,5,1\n");
  CHECK(seconds.ts_open[0] == monday + 250'000'000);
  CHECK(seconds.schema == "ohlcv-1s");
  const Bars days = read("Date,Open,High,Low,Close\n2024-01-08,5,5,5,5\n2024-01-09,5,5,5,5\n");
  CHECK(days.interval == ns_per_day);
  CHECK(days.volume == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("csv: columns by name, in any order and case, with others between") {
  for (const std::string time :
       {"ts_event", "Timestamp", "timestamp_utc", "TIME", "DateTime", "Gmt time", "Open time"}) {
    INFO(time);
    require_both(read(
        "#made by hand\nVolume, close ,extra,\"LOW\",High,Open," + time +
        "\r\n1884,1675.25,x,1673.5,1677.25,1676.75,2024-01-08 00:00\r\n\r\n7,3e-9,,-2,0.500000001,-1.0E-1,2024-01-08 "
        "00:01\r\n"));
  }
  require_both(
      read("\xEF\xBB\xBFtime;open;high;low;close;volume\n2024-01-08;1676.75;1677.25;1673.5;1675.25;1884\n"
           "2024-01-08 00:01;-0.1;0.500000001;-2;0.000000003;7"));
}

TEST_CASE("csv: Databento's own layout, in nanoseconds and 1e-9 units") {
  const Bars bars = read(
      "ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol\n"
      "1704672000000000000,33,1,5482,1676750000000,1677250000000,1673500000000,1675250000000,1884,ESH1\n"
      "1704672060000000000,33,1,5482,-100000000,500000001,-2000000000,3,7,ESH1\n");
  REQUIRE(bars.instrument == std::vector<std::uint32_t>{5482, 5482});
  REQUIRE(bars.symbols.at(5482) == "ESH1");
  REQUIRE(bars.open == std::vector<std::int64_t>{early.open, late.open});
  REQUIRE(bars.close == std::vector<std::int64_t>{early.close, late.close});
}

TEST_CASE("csv: a symbol column tells instruments apart") {
  const Bars bars = read(
      "time,open,high,low,close,symbol\n2024-01-08 00:00,5,5,5,5,ESH4\n2024-01-08 00:01,5,5,5,5,ESH4\n"
      "2024-01-08 00:02,7,7,7,7,ESM4\n");
  REQUIRE(bars.instrument == std::vector<std::uint32_t>{1, 1, 2});
  REQUIRE(bars.symbols == std::map<std::uint32_t, std::string>{{1, "ESH4"}, {2, "ESM4"}});
}

TEST_CASE("csv: times at which bars close are an option") {
  const Bars bars = read(good, {.csv = {.stamp = "close"}});
  REQUIRE(bars.ts_open[0] == monday - ns_per_minute);
}

TEST_CASE("csv: the interval is the most common step") {
  const Bars bars = read(
      "2024-01-08 00:00,5,5,5,5\n2024-01-08 00:05,5,5,5,5\n2024-01-08 00:10,5,5,5,5\n2024-01-08 00:12,5,5,5,5\n"
      "2024-01-08 00:30,5,5,5,5\n");
  REQUIRE(bars.interval == 5 * ns_per_minute);
  REQUIRE(bars.schema == "ohlcv-300s");
  REQUIRE(bars.size() == 4);
  REQUIRE(bars.rejects.at("starts before the bar before it has ended") == 1);
}

TEST_CASE("csv: rows that cannot be true are left out and counted") {
  const Bars bars = read(good +
                         "2024-01-08 00:02,,5,5,5,1\n2024-01-08 00:03,5,nan,5,5,1\n2024-01-08 00:04,0,5,0,5,1\n"
                         "2024-01-08 00:05,5,4,6,5,1\n2024-01-08 00:01,5,5,5,5,1\n2024-01-08 00:00,5,5,5,5,1\n"
                         "2024-01-08 00:06,5,5,5,5,1\n");
  REQUIRE(bars.size() == 3);
  REQUIRE(bars.rejects == std::map<std::string, std::int64_t>{{"undefined price", 2},
                                                              {"zero price", 1},
                                                              {"high below low", 1},
                                                              {"duplicate time", 1},
                                                              {"time goes backwards", 1}});
}

TEST_CASE("csv: a malformed row is named by its line") {
  require_says(refused(good + "2024-01-08 00:02,5,5,5,5\n"), {"line 4", "5 fields, expected 6"});
  require_says(refused(good + "2024-01-08 00:02,5,5,5,5,1,1\n"), {"line 4", "7 fields"});
  require_says(refused(good + "2024-01-08 00:02,5,five,5,5,1\n"), {"line 4", "high price 'five'"});
  require_says(refused(good + "2024-01-08 00:02,5,5,5,9999999999999,1\n"), {"line 4", "close price '9999999999999'"});
  require_says(refused(good + "2024-01-08 00:02,5,5,5,5,-1\n"), {"line 4", "volume '-1'"});
  require_says(refused(good + "2024-13-08 00:02,5,5,5,5,1\n"), {"line 4", "time '2024-13-08 00:02'"});
  require_says(refused(good + "08.01.2024 00:02:00,5,5,5,5,1\n"), {"line 4", "expected iso like the rows before"});
  require_says(refused(header + "today,5,5,5,5,1\n"), {"line 2", "time 'today'", "ISO 8601"});
  require_says(refused("time,open,high,low,close,instrument_id\n2024-01-08,5,5,5,5,x\n"),
               {"line 2", "instrument_id 'x'"});
}

TEST_CASE("csv: files that hold no bars are refused") {
  require_says(refused(""), {"empty"});
  require_says(refused("\n\n"), {"no line of text"});
  require_says(refused(header), {"no row of data"});
  require_says(refused("a,b,c\n1,2,3\n"),
               {"line 1", "starts with 'a'", "no column for time, open", "expected a header"});
  require_says(refused("time,open,high,low\n2024-01-08,5,5,5\n"), {"line 1", "expected a header"});
  require_says(refused(std::string("\x1F\x8B\x08 binary")), {"damaged gzip data"});
  require_says(refused(std::string(400'000, 'x')), {"line 1", "longer than"});
  require_says(refused(std::string("\x00\x01\x02\x03\x04", 5)), {"line 1", "line 1: starts with '?"});
  require_says(refused(header + "2024-01-08 00:00,5,5,5,5,1\n"), {"1 usable rows of 1", "interval"});
}

TEST_CASE("csv: times are far from the ends of their range, so that the distance of two is a number") {
  const auto day = [](const char* date) { return std::string(date) + ",1,2,1,2,3\n"; };
  const Bars bars = read(header + day("1827-01-01") + day("1827-01-02") + day("1827-01-03") + day("2116-01-01"));
  REQUIRE(bars.size() == 4);
  REQUIRE(bars.interval == ns_per_day);
  require_says(refused(header + day("1825-01-01")), {"1825-01-01"});
}

TEST_CASE("csv: a symbol shows as printable text") {
  const std::string row = ",1,2,1,2,E\x1B[31mS\n";
  const Bars bars = read("time,open,high,low,close,symbol\n2024-01-08" + row + "2024-01-09" + row);
  REQUIRE(bars.symbols.begin()->second == "E?[31mS");
}

TEST_CASE("csv: lines longer than a buffer's rest are whole") {
  std::string text = header;
  for (std::int64_t i = 0; i < 20'000; ++i)
    text += std::to_string((monday + i * ns_per_minute) / ns_per_second) + early_text;
  const Bars bars = read(text);
  REQUIRE(bars.size() == 20'000);
  REQUIRE(bars.volume == std::vector<std::uint64_t>(20'000, 1884));
}

TEST_CASE("csv: what is written is read back") {
  const test::TemporaryFolder folder;
  const Bars bars = synthesize({});
  write_csv(bars, folder / "a.csv");
  const Bars back = read_bars(folder / "a.csv");
  REQUIRE(same_bars(back, bars));
  REQUIRE(back.symbols == bars.symbols);
}

}  // namespace foxhunt::market
