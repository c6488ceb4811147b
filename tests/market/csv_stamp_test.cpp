// Times at which bars open or close: given, named by the column, or guessed and said.
#include "tests/market/csv_text.h"

namespace foxhunt::market {
namespace {

/// Five days of minutes from 14:30 to 21:00, of which the clock says open or close, first and last minutes included.
std::string sessions(bool close, const std::string& name, std::int64_t interval = ns_per_minute, int skip = 0) {
  std::string text = name + ",open,high,low,close\n";
  for (std::int64_t day = 0; day < 5; ++day)
    for (std::int64_t t = 14 * 60 + 30 + skip; t < 21 * 60 - skip; t += interval / ns_per_minute)
      text += format_utc(monday + day * ns_per_day + t * ns_per_minute + (close ? interval : 0)) + ",5,6,4,5\n";
  return text;
}

Bars read(const std::string& text, const std::string& stamp = "auto") {
  const test::TemporaryFolder folder;
  write_text(folder / "bars.csv", text);
  ReadOptions options;
  options.csv.stamp = stamp, options.csv.time_zone = "UTC";
  return read_bars(folder / "bars.csv", options);
}

const std::int64_t first_open = monday + (14 * 60 + 30) * ns_per_minute;

}  // namespace

TEST_CASE("csv: opens and closes are told apart by the ends of sessions, and the guess is said") {
  const Bars open = read(sessions(false, "time"));
  REQUIRE(open.ts_open[0] == first_open);
  REQUIRE(open.notes.size() == 1);
  require_says(open.notes[0], {"at which bars open", "10 ends of sessions", "data.csv_stamp"});
  const Bars close = read(sessions(true, "time"));
  REQUIRE(close.ts_open[0] == first_open);
  REQUIRE(close.notes.size() == 1);
  require_says(close.notes[0], {"at which bars close", "10 if they are closes", "data.csv_stamp"});
}

TEST_CASE("csv: what does not clearly say close is taken as open") {
  // Sessions that begin at an odd minute and end on none; bars too long; one session alone.
  CHECK(read(sessions(true, "time", ns_per_minute, 7)).ts_open[0] == first_open + 8 * ns_per_minute);
  std::string mixed = "time,open,high,low,close\n";
  for (std::int64_t day = 0; day < 5; ++day)  // three sessions that look closed on the quarter hour, two opened on it
    for (std::int64_t t = 14 * 60 + 30 + (day < 3); t < 20 * 60 + 55; ++t)
      mixed += format_utc(monday + day * ns_per_day + t * ns_per_minute) + ",5,6,4,5\n";
  CHECK(read(mixed).ts_open[0] == first_open + ns_per_minute);
  const Bars long_bars = read(sessions(true, "time", 30 * ns_per_minute));
  CHECK(long_bars.ts_open[0] == first_open + 30 * ns_per_minute);
  require_says(long_bars.notes.at(0), {"a quarter hour or more do not tell"});
  CHECK(read("time,open,high,low,close\n2024-01-08 14:31,5,5,5,5\n2024-01-08 14:32,5,5,5,5\n").ts_open[0] ==
        first_open + ns_per_minute);
}

TEST_CASE("csv: a setting or the column's name leaves nothing to guess") {
  CHECK(read(sessions(true, "time"), "open").ts_open[0] == first_open + ns_per_minute);
  CHECK(read(sessions(false, "time"), "close").ts_open[0] == first_open - ns_per_minute);
  for (const char* name : {"open time", "open_time", "ts_event"}) {
    const Bars bars = read(sessions(true, name));
    CHECK(bars.ts_open[0] == first_open + ns_per_minute);
    CHECK(bars.notes.empty());
  }
  const Bars bars = read(sessions(true, "Close Time"));
  CHECK(bars.ts_open[0] == first_open);
  CHECK(bars.notes.empty());
  CHECK(read(sessions(true, "Close Time"), "open").ts_open[0] == first_open + ns_per_minute);
}

TEST_CASE("csv: the real files") {
  if (!std::filesystem::exists(real_data() / "csv")) return test::skip("no real market files beside the source tree");
  const auto file = [](const char* name) { return real_data() / "csv" / name; };
  const Bars euro = read_bars(file("6EH4.XCME_1min_bars_20240101_20240131.csv.gz"));
  CHECK(euro.size() == 29'996);
  CHECK(format_utc(euro.ts_open[0]) == "2024-01-01 23:00:00");
  CHECK(euro.open[0] == 1'107'600'000);
  CHECK(euro.rejects.empty());
  require_says(euro.notes.back(), {"at which bars close"});
  const Bars es = read_bars(file("ESZ3_1min_20131006-20131014.csv"));
  CHECK(es.size() == 8'198);
  CHECK(format_utc(es.ts_open[0]) == "2013-10-06 22:00:00");
  require_says(es.notes.back(), {"at which bars open"});
  const Bars fx = read_bars(file("gymanytrading_EURUSD_1H_ASK.csv"));
  CHECK(fx.size() == 6'225);
  CHECK(fx.interval == ns_per_hour);
  CHECK(format_utc(fx.ts_open[0]) == "2017-01-01 22:00:00");
  CHECK(fx.volume[0] == 143'539'993);
  require_says(error_of(ExitCode::data, [&] { read_bars(file("lean_futures_symbol_properties.csv")); }),
               {"line 1", "starts with 'eurex'", "no column for time", "expected a header"});
}

}  // namespace foxhunt::market
