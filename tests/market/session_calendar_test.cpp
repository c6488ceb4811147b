#include "core/market/session_calendar.h"

#include <random>

#include "tests/market/session_fixture.h"

namespace foxhunt::market {
namespace {

void require_day(const std::string& calendar, const char* at, const char* date, const char* open, const char* close,
                 const char* next_open) {
  const TradingDay day = SessionCalendar(calendar).day_of(utc(at));
  INFO(calendar << " at " << at);
  REQUIRE(format_utc(day.date * ns_per_day).substr(0, 10) == date);
  REQUIRE(format_utc(day.open) == std::string(open) + ":00");
  REQUIRE(format_utc(day.close) == std::string(close) + ":00");
  REQUIRE(format_utc(day.next_open) == std::string(next_open) + ":00");
}

}  // namespace

TEST_CASE("calendar: a Globex day opens on the evening before and lasts until the next one opens") {
  const char* globex = "cme-equity-index";
  require_day(globex, "2024-01-08 00:00", "2024-01-08", "2024-01-07 23:00", "2024-01-08 22:00", "2024-01-08 23:00");
  require_day(globex, "2024-01-08 22:59", "2024-01-08", "2024-01-07 23:00", "2024-01-08 22:00", "2024-01-08 23:00");
  require_day(globex, "2024-01-08 23:00", "2024-01-09", "2024-01-08 23:00", "2024-01-09 22:00", "2024-01-09 23:00");
  // Friday's lasts over the weekend.
  for (const char* at : {"2024-01-12 12:00", "2024-01-13 12:00", "2024-01-14 22:59:59"})
    require_day(globex, at, "2024-01-12", "2024-01-11 23:00", "2024-01-12 22:00", "2024-01-14 23:00");
}

TEST_CASE("calendar: opening and closing move by an hour of UTC with the clock in Chicago") {
  require_day("cme-fx", "2024-03-08 12:00", "2024-03-08", "2024-03-07 23:00", "2024-03-08 22:00", "2024-03-10 22:00");
  require_day("cme-fx", "2024-03-11 12:00", "2024-03-11", "2024-03-10 22:00", "2024-03-11 21:00", "2024-03-11 22:00");
  require_day("cme-fx", "2024-11-01 12:00", "2024-11-01", "2024-10-31 22:00", "2024-11-01 21:00", "2024-11-03 23:00");
  require_day("cme-fx", "2024-11-04 12:00", "2024-11-04", "2024-11-03 23:00", "2024-11-04 22:00", "2024-11-04 23:00");
  require_day("us-equities", "2024-03-11 15:00", "2024-03-11", "2024-03-11 13:30", "2024-03-11 20:00",
              "2024-03-12 13:30");
  require_day("us-equities", "2024-03-08 15:00", "2024-03-08", "2024-03-08 14:30", "2024-03-08 21:00",
              "2024-03-11 13:30");
}

TEST_CASE("calendar: hours are those of the date") {
  const SessionCalendar equity("cme-equity-index"), metals("cme-energy-metals");
  const auto trades = [](const SessionCalendar& calendar, const char* at) {
    return calendar.day_of(utc(at)).trades_at(utc(at));
  };
  // 2013: a halt at 15:15 and the close at 16:15 (20:15 and 21:15 UTC in summer).
  CHECK(trades(equity, "2013-10-07 20:14:59"));
  CHECK_FALSE(trades(equity, "2013-10-07 20:15"));
  CHECK_FALSE(trades(equity, "2013-10-07 20:29:59"));
  CHECK(trades(equity, "2013-10-07 20:30"));
  CHECK(trades(equity, "2013-10-07 21:14"));
  CHECK_FALSE(trades(equity, "2013-10-07 21:15"));
  CHECK(trades(metals, "2013-10-07 20:15"));
  CHECK(trades(metals, "2015-09-18 21:14"));
  // From 2015-09-21 the close is at 16:00; from 2021-06-28 there is no halt.
  CHECK_FALSE(trades(metals, "2015-09-21 21:00"));
  CHECK(trades(equity, "2015-09-18 21:14"));
  CHECK_FALSE(trades(equity, "2015-09-21 21:00"));
  CHECK_FALSE(trades(equity, "2021-06-25 20:20"));
  CHECK(trades(equity, "2021-06-28 20:20"));
  CHECK_FALSE(trades(equity, "2024-01-13 12:00"));  // Saturday
  CHECK(SessionCalendar("24x7").day_of(utc("2024-01-13 12:00")).open == utc("2024-01-13"));
}

TEST_CASE("calendar: the remembered day changes no answer") {
  std::mt19937_64 random(test::seed());
  for (const std::string& name : calendar_names()) {
    if (name == "none") continue;
    const SessionCalendar calendar(name);
    SessionClock clock(calendar);
    std::int64_t ts = utc("2012-06-01");
    for (int i = 0; i < 5'000; ++i) {
      ts += static_cast<std::int64_t>(random() % 2880) * ns_per_minute;
      if (i % 100 == 99) ts -= 10 * ns_per_day;
      const TradingDay day = calendar.day_of(ts), remembered = clock.day_of(ts);
      INFO(name << " " << format_utc(ts));
      REQUIRE(day.open <= ts);
      REQUIRE(ts < day.next_open);
      REQUIRE(day.open < day.close);
      REQUIRE(day.close <= day.next_open);
      REQUIRE(remembered.date == day.date);
      REQUIRE(remembered.close == day.close);
    }
    for (const std::int64_t extreme : {INT64_MIN, INT64_MAX}) CHECK_NOTHROW(clock.day_of(extreme));
  }
}

TEST_CASE("calendar: contracts have the hours of their exchange, and a setting overrides them") {
  std::vector<std::string> notes;
  const auto name = [&](const char* setting, const char* symbol) {
    return calendar_for(setting, contract_for(symbol), notes).name();
  };
  CHECK(name("auto", "ESZ3") == "cme-equity-index");
  CHECK(name("auto", "CL") == "cme-energy-metals");
  CHECK(name("auto", "6EH4") == "cme-fx");
  CHECK(name("auto", "EURUSD") == "none");
  CHECK(name("none", "ES") == "none");
  CHECK(name("us-equities", "ES") == "us-equities");
  CHECK(notes.empty());
  require_says(error_of(ExitCode::usage, [&] { name("cme-equity-indx", "ES"); }),
               {"\"cme-equity-indx\"", "data.calendar", "24x7", "did you mean \"cme-equity-index\"?"});
}

}  // namespace foxhunt::market
