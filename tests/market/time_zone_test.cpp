#include "core/market/time_zone.h"

#include "tests/market/csv_text.h"

namespace foxhunt::market {
namespace {

std::int64_t at(const char* text) { return parse_time(text, TimeFormat::iso)->ns; }

}  // namespace

TEST_CASE("time: a clock is ahead of UTC by what its zone says at that time") {
  const TimeZone chicago("America/Chicago"), kolkata("Asia/Kolkata");
  CHECK(chicago.offset_at(at("2024-01-08 00:00")) == -6 * ns_per_hour);
  CHECK(chicago.offset_at(at("2024-07-08 00:00")) == -5 * ns_per_hour);
  CHECK(chicago.offset_at(at("2024-03-10 07:59:59")) == -6 * ns_per_hour);
  CHECK(chicago.offset_at(at("2024-03-10 08:00")) == -5 * ns_per_hour);
  CHECK(chicago.offset_at(at("2060-07-08 00:00")) == -5 * ns_per_hour);  // by the rule, beyond the table
  CHECK(kolkata.offset_at(at("1975-01-08 00:00")) == 5 * ns_per_hour + 30 * ns_per_minute);
  CHECK(TimeZone().offset_at(at("2024-07-08 00:00")) == 0);
  CHECK(TimeZone("UTC").to_utc(123) == 123);
  CHECK(chicago.to_utc(at("2013-10-06 17:00:00.25")) == at("2013-10-06 22:00:00.25"));
  CHECK(chicago.to_utc(at("1969-10-06 17:00:00.25")) == at("1969-10-06 22:00:00.25"));
}

TEST_CASE("time: an hour that a clock shows twice has two instants, one that it skips has none") {
  const TimeZone chicago("America/Chicago");
  const auto twice = chicago.instants(at("2024-11-03 01:30"));
  CHECK(twice.exists);
  CHECK(twice.first == at("2024-11-03 06:30"));
  CHECK(twice.second == at("2024-11-03 07:30"));
  const auto never = chicago.instants(at("2024-03-10 02:30"));
  CHECK_FALSE(never.exists);
  CHECK(never.first == at("2024-03-10 08:30"));  // 03:30 summer time
  CHECK(never.second == never.first);
  const auto once = chicago.instants(at("2024-03-10 03:00"));
  CHECK(once.exists);
  CHECK(once.first == at("2024-03-10 08:00"));
  CHECK(once.second == once.first);
}

TEST_CASE("time: the remembered hour changes no answer, and local times come back") {
  std::mt19937_64 random(test::seed());
  for (const char* name : {"America/Chicago", "Europe/London", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"}) {
    const TimeZone zone(name);
    LocalClock clock(zone);
    std::int64_t local = at("2023-01-01");
    for (int i = 0; i < 20'000; ++i, local += static_cast<std::int64_t>(random() % 120) * ns_per_minute + 1) {
      const auto expected = zone.instants(local), remembered = clock.instants(local);
      INFO(name << " " << format_utc(local));
      REQUIRE(remembered.first == expected.first);
      REQUIRE(remembered.second == expected.second);
      REQUIRE(remembered.exists == expected.exists);
      if (!expected.exists) continue;
      REQUIRE(expected.first + zone.offset_at(expected.first) == local);
      REQUIRE(expected.second + zone.offset_at(expected.second) == local);
    }
  }
}

TEST_CASE("time: a zone that there is not is named, with what to do") {
  for (const char* name : {"America/Chigaco", "CST6CDT6", "", "localtime", "/etc/localtime", "../etc/passwd", "a b"}) {
    INFO(name);
    require_says(error_of(ExitCode::usage, [&] { TimeZone zone{std::string(name)}; }),
                 {fmt::format("\"{}\"", name), "America/Chicago", "tzdata"});
  }
}

TEST_CASE("csv: local times become UTC over both changes of the clock") {
  // Half-hourly through a change of the clock, as a wall in Chicago shows them: one hour twice, or not at all.
  const TimeZone chicago("America/Chicago");
  for (const char* first : {"2024-11-02 12:00", "2024-03-09 12:00"})
    for (const bool newest_first : {false, true}) {
      std::vector<std::int64_t> utc;
      for (int i = 0; i < 96; ++i) utc.push_back(at(first) + i * 30 * ns_per_minute);
      std::string text;
      for (const std::int64_t ts : utc) {
        const std::string row = format_utc(ts + chicago.offset_at(ts)) + ",5,5,5,5\n";
        text = newest_first ? row + text : text + row;
      }
      ReadOptions options;
      options.csv.time_zone = "America/Chicago";
      const Bars bars = read_csv_text("time,open,high,low,close\n" + text, options);
      REQUIRE(bars.ts_open == utc);
      REQUIRE(bars.rejects.empty());
      REQUIRE(bars.notes.empty());
    }
}

TEST_CASE("csv: a time that no clock showed is left out and counted") {
  ReadOptions options;
  options.csv.time_zone = "America/Chicago";
  const std::string text =
      "time,open,high,low,close\n2024-03-10 01:30,5,5,5,5\n2024-03-10 02:00,5,5,5,5\n2024-03-10 02:30,5,5,5,5\n"
      "2024-03-10 03:00,5,5,5,5\n2024-03-10 03:30,5,5,5,5\n";
  const Bars bars = read_csv_text(text, options);
  REQUIRE(bars.ts_open == std::vector{at("2024-03-10 07:30"), at("2024-03-10 08:00"), at("2024-03-10 08:30")});
  REQUIRE(bars.rejects.at("time that the clock skipped when it was set forward") == 2);
  // Times that name their zone need none.
  options.csv.time_zone = "Asia/Tokyo";
  REQUIRE(read_csv_text("time,open,high,low,close\n2024-03-10 01:30Z,5,5,5,5\n2024-03-10 02:00Z,5,5,5,5\n", options)
              .ts_open[0] == at("2024-03-10 01:30"));
  options.csv.time_zone = "Nowhere";
  error_of(ExitCode::usage, [&] { read_csv_text(text, options); });
}

}  // namespace foxhunt::market
