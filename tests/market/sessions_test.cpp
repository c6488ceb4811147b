// Sessions by calendar and by pauses: daily breaks, weekends, daylight saving, holidays, early closes, holes.
#include "tests/market/session_fixture.h"

namespace foxhunt::market {
namespace {

const Contract es = contract_for("ES");
constexpr std::int64_t gap = 30 * ns_per_minute;

/// What Globex trades in UTC from one time of 2024 to another: 23 hours a day, from Sunday 17:00, by Chicago's clock.
void trade_globex(Bars& bars, const char* from, const char* to) {
  const std::int64_t summer = utc("2024-03-10 08:00"), winter = utc("2024-11-03 07:00");
  for (std::int64_t ts = utc(from); ts < utc(to); ts += ns_per_minute) {
    const std::int64_t offset = (ts >= summer && ts < winter ? 5 : 6) * ns_per_hour;
    const std::int64_t local = ts - offset, of_day = local - utc_day(local) * ns_per_day;
    const int day = weekday(utc_day(local));
    const bool closed = (of_day >= 16 * ns_per_hour && of_day < 17 * ns_per_hour) || day == 5 ||
                        (day == 4 && of_day >= 16 * ns_per_hour) || (day == 6 && of_day < 17 * ns_per_hour);
    if (!closed) append(bars, {ts, 100 * point, 100 * point, 100 * point, 100 * point, 10, 1});
  }
  bars.interval = ns_per_minute;
  bars.source = "test";
}

}  // namespace

TEST_CASE("sessions: the trading date ends a session where no pause does") {
  Bars bars;
  trade(bars, "2024-01-08 22:30", "2024-01-08 23:30");  // straight through the break of 22:00 to 23:00
  const Tape tape = make_tape(bars, es, {});
  CHECK(tape.calendar == "cme-equity-index");
  REQUIRE(session_starts(tape) == std::vector<std::string>{"2024-01-08 22:30:00", "2024-01-08 23:00:00"});
  CHECK(tape.flags[29] == last_of_session);
  CHECK(tape.fill_mid[29] == tape.mid[29]);
  CHECK(session_starts(make_tape(bars, es, {gap, "none"})).size() == 1);
  CHECK(session_starts(make_tape(bars, contract_for("ZZZ"), {})).size() == 1);
  CHECK(session_starts(make_tape(bars, contract_for("ZZZ"), {gap, "cme-fx"})).size() == 2);
  CHECK(session_starts(make_tape(bars, es, {gap, "24x7"})).size() == 1);
  error_of(ExitCode::usage, [&] { make_tape(bars, es, {gap, "globex"}); });
}

TEST_CASE("sessions: a calendar ends them at the break when the pause that is allowed is longer") {
  Bars bars;
  trade_globex(bars, "2024-01-08", "2024-01-11");
  const std::vector<std::string> starts{"2024-01-08 00:00:00", "2024-01-08 23:00:00", "2024-01-09 23:00:00",
                                        "2024-01-10 23:00:00"};
  CHECK(session_starts(make_tape(bars, es, {90 * ns_per_minute})) == starts);
  CHECK(session_starts(make_tape(bars, es, {90 * ns_per_minute, "none"})).size() == 1);
  CHECK(session_starts(make_tape(bars, es, {})) == starts);
}

TEST_CASE("sessions: they move by an hour of UTC when Chicago's clock does") {
  const TapeOptions by_calendar{90 * ns_per_minute};  // no break is long enough: the calendar alone divides weekdays
  Bars spring, autumn;
  trade_globex(spring, "2024-03-07", "2024-03-13");
  trade_globex(autumn, "2024-10-31", "2024-11-06");
  const Tape to_summer = make_tape(spring, es, by_calendar), to_winter = make_tape(autumn, es, by_calendar);
  CHECK(session_starts(to_summer) == std::vector<std::string>{"2024-03-07 00:00:00", "2024-03-07 23:00:00",
                                                              "2024-03-10 22:00:00", "2024-03-11 22:00:00",
                                                              "2024-03-12 22:00:00"});
  CHECK(session_starts(to_winter) == std::vector<std::string>{"2024-10-31 00:00:00", "2024-10-31 22:00:00",
                                                              "2024-11-03 23:00:00", "2024-11-04 23:00:00",
                                                              "2024-11-05 23:00:00"});
  // Every row lies within the hours, and none of the days ended early.
  CHECK(to_summer.bars.notes.empty());
  CHECK(to_winter.bars.notes.empty());
}

TEST_CASE("sessions: rows outside the hours stay, with the date that opened last, and are counted") {
  Bars bars;
  trade(bars, "2024-01-12 21:50", "2024-01-12 22:05");  // five minutes too many
  trade(bars, "2024-01-13 12:00", "2024-01-13 12:03");  // Saturday
  trade(bars, "2024-01-14 23:00", "2024-01-14 23:10");
  const Tape tape = make_tape(bars, es, {});
  REQUIRE(tape.rows() == 28);
  CHECK(session_starts(tape) ==
        std::vector<std::string>{"2024-01-12 21:50:00", "2024-01-13 12:00:00", "2024-01-14 23:00:00"});
  require_says(note_with(tape, "outside"), {"8 of 28 rows", "cme-equity-index", "data.calendar"});
}

TEST_CASE("sessions: early closes are found from the data") {
  // The day after Thanksgiving ends at 12:15 in Chicago; Thursday halts at noon and goes on at 17:00 as Friday.
  Bars bars;
  trade(bars, "2023-11-20 23:00", "2023-11-21 22:00");
  trade(bars, "2023-11-21 23:00", "2023-11-22 22:00");
  trade(bars, "2023-11-22 23:00", "2023-11-23 18:00");
  trade(bars, "2023-11-23 23:00", "2023-11-24 18:15");
  trade(bars, "2023-11-26 23:00", "2023-11-27 22:00");
  trade(bars, "2023-11-27 23:00", "2023-11-28 16:00");  // may still go on
  const Tape tape = make_tape(bars, es, {});
  REQUIRE(tape.session.back() == 5);
  require_says(note_with(tape, "ended early"), {"2 trading days", "2023-11-23 18:00:00 UTC, 2023-11-24 18:15:00 UTC"});
  CHECK(note_with(tape, "ended early").find("11-28") == std::string::npos);
  for (std::size_t i = 0; i + 1 < tape.rows(); ++i)
    if (tape.ts[i] == utc("2023-11-24 18:15")) CHECK(tape.flags[i] == last_of_session);
}

TEST_CASE("sessions: data of the day hours alone do not end early every day, nor does a hole") {
  Bars bars;
  for (const char* date : {"2024-01-08", "2024-01-09", "2024-01-10", "2024-01-11"}) {
    const std::string day(date);
    trade(bars, (day + " 14:30").c_str(), (day + (day == "2024-01-10" ? " 18:00" : " 21:00")).c_str());
  }
  Tape tape = make_tape(bars, es, {});
  require_says(note_with(tape, "ended early"), {"1 trading day of", "2024-01-10 18:00:00 UTC"});
  bars = {};
  trade(bars, "2024-01-07 23:00", "2024-01-08 22:00");
  trade(bars, "2024-01-08 23:00", "2024-01-09 01:00");  // then the rest of the day is missing
  trade(bars, "2024-01-09 23:00", "2024-01-10 22:00");
  trade(bars, "2024-01-10 23:00", "2024-01-11 18:00");  // and here two weeks
  trade(bars, "2024-01-25 23:00", "2024-01-26 22:00");
  CHECK(note_with(make_tape(bars, es, {}), "ended early").empty());
}

TEST_CASE("sessions: bars of a day or more have no calendar") {
  Bars bars;
  for (int day = 0; day < 5; ++day) {
    Bar bar = minute_bar(0, 5, 6);
    bar.ts_open = monday + day * ns_per_day;
    append(bars, bar);
  }
  bars.interval = ns_per_day;
  const Tape tape = make_tape(bars, es, {gap, "cme-equity-index"});
  CHECK(tape.calendar == "none");
  CHECK(tape.session.back() == 0);
  CHECK(tape.bars.notes.empty());
}

TEST_CASE("sessions: a hole of years, missing minutes and bars without volume") {
  Bars bars;
  trade(bars, "2013-12-20 15:00", "2013-12-20 15:10");
  trade(bars, "2013-12-20 15:15", "2013-12-20 15:20");
  trade(bars, "2020-01-06 15:00", "2020-01-06 15:10");
  for (std::uint64_t& volume : bars.volume) volume = 0;
  const Tape tape = make_tape(bars, es, {});
  REQUIRE(tape.rows() == 25);  // volume or not, a bar is a row
  CHECK(session_starts(tape) == std::vector<std::string>{"2013-12-20 15:00:00", "2020-01-06 15:00:00"});
  CHECK(tape.flags[10] == gap_before);
  CHECK(tape.flags[14] == last_of_session);
  CHECK(tape.fill_mid[14] == tape.mid[14]);
  CHECK(tape.flags[15] == 0);
}

}  // namespace foxhunt::market
