// What a profile says about a CSV file, and what is guessed where it says nothing.
#include "tests/market/csv_text.h"

namespace foxhunt::market {
namespace {

const std::string rows = "2024-01-08 00:00,1,4,0.5,2,7\n2024-01-08 00:01,2,5,1.5,3,8\n";
const std::string header = "time,open,high,low,close,volume\n";

Bars expected() {
  Bars bars;
  append(bars, {monday, point, 4 * point, point / 2, 2 * point, 7, 0});
  append(bars, {monday + ns_per_minute, 2 * point, 5 * point, 3 * point / 2, 3 * point, 8, 0});
  bars.interval = ns_per_minute;
  return bars;
}

ReadOptions with(CsvOptions csv) {
  ReadOptions options;
  options.csv = std::move(csv);
  return options;
}

bool any_note(const Bars& bars, const std::string& word) {
  return std::any_of(bars.notes.begin(), bars.notes.end(),
                     [&](const std::string& note) { return note.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("csv: columns are given by name in any case, or by number") {
  const std::string names = "When,Lots,C,Bottom,Top,First\n";
  const std::string text = "2024-01-08 00:00,7,2,0.5,4,1\n2024-01-08 00:01,8,3,1.5,5,2\n";
  CsvOptions csv{.time_column = "when",
                 .open_column = "FIRST",
                 .high_column = "top",
                 .low_column = "bottom",
                 .close_column = "c",
                 .volume_column = "lots"};
  REQUIRE(same_bars(read_csv_text(names + text, with(csv)), expected()));
  csv = {.time_column = "1",
         .open_column = "6",
         .high_column = "5",
         .low_column = "4",
         .close_column = "3",
         .volume_column = "2"};
  REQUIRE(same_bars(read_csv_text(names + text, with(csv)), expected()));
  REQUIRE(same_bars(read_csv_text(text, with(csv)), expected()));
}

TEST_CASE("csv: a column that is not there is named with its key") {
  require_says(csv_refusal(header + rows, with({.open_column = "opem"})),
               {"line 1", "no column \"opem\"", "data.csv_open_column", "did you mean \"open\"?"});
  require_says(csv_refusal(header + rows, with({.volume_column = "turnover in thousands"})),
               {"the header has 'time, op"});
  require_says(csv_refusal(header + rows, with({.open_column = "7"})), {"no column \"7\""});
  require_says(csv_refusal(header + rows, with({.open_column = "0"})), {"no column \"0\""});
  require_says(csv_refusal(rows, with({.open_column = "open"})), {"no header", "\"open\"", "1 to 6"});
  require_says(csv_refusal(header + rows, with({.features = {"depth"}})), {"\"depth\"", "data.csv_features"});
  require_says(csv_refusal("time,open,high,close\n1,2,3,4\n"), {"no column for low;", "data.csv_low_column"});
}

TEST_CASE("csv: date and time of day may stand in two columns") {
  const std::string split = "2024.01.08\t00:00:00\t1\t4\t0.5\t2\t7\n2024.01.08\t00:01:00\t2\t5\t1.5\t3\t8\n";
  REQUIRE(same_bars(read_csv_text("<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\n" + split), expected()));
  const Bars bars = read_csv_text(split);
  REQUIRE(same_bars(bars, expected()));
  REQUIRE(any_note(bars, "no header: columns taken as date, time, open, high, low, close, volume"));
}

TEST_CASE("csv: what is taken for granted is said, and what is given is not") {
  const test::TemporaryFolder folder;
  write_text(folder / "bars.csv", "1704672000,1,4,0.5,2\n1704672060,2,5,1.5,3\n");
  const Bars bars = read_bars(folder / "bars.csv");
  REQUIRE(bars.notes.size() == 3);
  REQUIRE(bars.notes[0] == "no header: columns taken as time, open, high, low, close");
  REQUIRE(any_note(bars, "epoch_s"));
  REQUIRE(any_note(bars, "times taken as those at which bars open"));
  REQUIRE(any_note(read_csv_text(header + rows), "taken as UTC"));
  REQUIRE(read_csv_text(header + rows, with({.time_zone = "UTC"})).notes.empty());
  REQUIRE(
      any_note(read_csv_text(header + "2024-01-08,\"1,000\",\"1,000\",1,1,1\n2024-01-09,1,1,1,1,1\n"), "thousands"));
}

TEST_CASE("csv: a format that is given is the only one") {
  const std::string text = "time,open,high,low,close\n1704672000,5,5,5,5\n1704672060,5,5,5,5\n";
  REQUIRE(read_csv_text(text, with({.time_format = "epoch_s"})).ts_open[0] == monday);
  REQUIRE(read_csv_text(text, with({.time_format = "epoch_ms"})).ts_open[0] == monday / 1000);
  require_says(csv_refusal(text, with({.time_format = "iso"})), {"line 2", "time '1704672000'", "expected iso"});
  require_says(csv_refusal(text, with({.delimiter = "tab"})), {"line 1", "no column for time"});
}

TEST_CASE("csv: times with and without a zone do not mix") {
  require_says(csv_refusal(header + "2024-01-08 00:00Z,1,4,0.5,2,7\n2024-01-08 00:01,2,5,1.5,3,8\n"),
               {"line 3", "with a zone"});
  require_says(csv_refusal(header + "2024-01-08 00:00,1,4,0.5,2,7\n2024-01-08 00:01Z,2,5,1.5,3,8\n"),
               {"line 3", "without a zone"});
}

TEST_CASE("csv: decimal commas are read where they are asked for, and named where they are not") {
  const std::string text =
      "time;open;high;low;close;volume\n2024-01-08 00:00;1,0;4;0,5;2;7\n2024-01-08 00:01;2;5;1,5;3;8\n";
  REQUIRE(same_bars(read_csv_text(text, with({.decimal = "comma"})), expected()));
  require_says(csv_refusal(text), {"line 2", "open price '1,0'", "data.csv_decimal"});
  for (const char* wrong : {"1,23,456", "12,34", ",123", "1234,567", "1,234,56", "1,2345", "1,,234"}) {
    INFO(wrong);
    require_says(csv_refusal(fmt::format("time;open;high;low;close\n2024-01-08;{};5;5;5\n", wrong)),
                 {"line 2", fmt::format("open price '{}'", wrong)});
  }
}

TEST_CASE("csv: words for no number are rows left out, in prices, times and volumes") {
  std::string text = header + rows;
  int minute = 2;
  for (const char* word : {"nan", "NaN", "NA", "N/A", "#N/A", "null", "None", "inf", "-inf", "Infinity", "-", ""})
    text += fmt::format("2024-01-08 00:{:02},5,{},5,5,1\n", minute++, word);
  text += "NaT,5,5,5,5,1\n,5,5,5,5,1\n2024-01-08 00:30,5,5,5,5,nan\n";
  const Bars bars = read_csv_text(text);
  REQUIRE(bars.size() == 3);
  REQUIRE(bars.volume.back() == 0);
  REQUIRE(bars.rejects == std::map<std::string, std::int64_t>{{"undefined price", 12}, {"undefined time", 2}});
}

TEST_CASE("csv: further columns stay with their rows through sorting and rejects") {
  std::mt19937_64 random(test::seed());
  for (const bool newest_first : {false, true}) {
    std::string text;
    for (std::int64_t i = 0; i < 500; ++i) {
      // Some rows cannot be true; every seventh has no value.
      const char* high = random() % 5 == 0 ? "4" : "6";
      const std::string row = fmt::format("{},5,{},5,5,{},{}\n", monday / ns_per_second + i * 60, high,
                                          i % 7 == 0 ? "" : fmt::format("{}e-3", i), -i);
      text = newest_first ? row + text : text + row;
    }
    text = "time,open,high,low,close,Signal,other\n" + text;
    const Bars bars = read_csv_text(text, with({.features = {"signal", "other"}}));
    REQUIRE(bars.rejects.at("high below low") > 50);
    REQUIRE(bars.extra.size() == 2);
    REQUIRE(bars.extra[0].name == "signal");
    for (std::size_t row = 0; row < bars.size(); ++row) {
      const auto i = (bars.ts_open[row] - monday) / ns_per_minute;
      if (i % 7 == 0)
        REQUIRE(std::isnan(bars.extra[0].values[row]));
      else
        REQUIRE(bars.extra[0].values[row] == Approx(static_cast<double>(i) / 1000));
      REQUIRE(bars.extra[1].values[row] == static_cast<double>(-i));
    }
  }
  require_says(csv_refusal("time,open,high,low,close,x\n2024-01-08,5,5,5,5,1e101\n", with({.features = {"x"}})),
               {"line 2", "'1e101'", "1e100"});
  require_says(csv_refusal("time,open,high,low,close,x\n2024-01-08,5,5,5,5,buy\n", with({.features = {"x"}})),
               {"'buy'"});
}

TEST_CASE("csv: one instrument of a file is chosen by its symbol") {
  const std::string text =
      "time,open,high,low,close,symbol\n2024-01-08 00:00,5,5,5,5,ESH4\n2024-01-08 00:00,7,7,7,7,NQH4\n"
      "2024-01-08 00:01,5,5,5,5,ESH4\n2024-01-08 00:01,7,7,7,7,NQH4\n";
  ReadOptions options;
  options.instrument = "NQ";
  const Bars bars = read_csv_text(text, options);
  REQUIRE(bars.close == std::vector<std::int64_t>(2, 7 * point));
  REQUIRE(bars.rejects.at("not the chosen instrument") == 2);
  options.instrument = "CL";
  require_says(csv_refusal(text, options), {"CL", "ESH4"});
}

TEST_CASE("csv: encodings that are none of text are named") {
  require_says(csv_refusal("\xFF\xFEt\0i\0m\0e\0"), {"UTF-16", "UTF-8"});
  require_says(csv_refusal(header + "2024-01-08,1,1,1,1,1\n2224-01-08,1,1,1,1,1\n"), {"line 3", "2224"});
  require_says(csv_refusal(header + "1970-01-08,1,1,1,1,1\n2100-01-08,1,1,1,1,1\n"),
               {"days apart", "data.csv_time_format"});
}

}  // namespace foxhunt::market
