#include "core/market/session_calendar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <span>

#include "core/error.h"
#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

constexpr int at(int hour, int minute = 0) { return 60 * hour + minute; }
constexpr int evening_before(int hour) { return at(hour) - at(24); }
constexpr std::int64_t days(int year, unsigned month, unsigned day) {
  return std::chrono::sys_days{std::chrono::year{year} / static_cast<int>(month) / static_cast<int>(day)}
      .time_since_epoch()
      .count();
}
constexpr std::int64_t always = std::numeric_limits<std::int64_t>::min();

/// Hours that hold from a trading date on: minutes from that date's local midnight.
struct Hours {
  std::int64_t from;
  int open, close;
  int break_begin = 0, break_end = 0;
};

// CME Group's announcements. Equity index: the day ends at 16:15 from trade date 2012-11-19, at 16:00 from 2015-09-21,
// when energy and metals also moved from 16:15 to 16:00; the halt of 15:15 to 15:30 was dropped on 2021-06-28. What
// held before November 2012 is not here: those rows are divided by the hours that followed.
constexpr std::array equity_index{
    Hours{always, evening_before(17), at(16, 15), at(15, 15), at(15, 30)},
    Hours{days(2015, 9, 21), evening_before(17), at(16), at(15, 15), at(15, 30)},
    Hours{days(2021, 6, 28), evening_before(17), at(16)},
};
constexpr std::array energy_metals{
    Hours{always, evening_before(17), at(16, 15)},
    Hours{days(2015, 9, 21), evening_before(17), at(16)},
};
constexpr std::array fx{Hours{always, evening_before(17), at(16)}};
constexpr std::array us_equities{Hours{always, at(9, 30), at(16)}};
constexpr std::array around_the_clock{Hours{always, at(0), at(24)}};

}  // namespace

struct ExchangeHours {
  const char *name, *zone;
  bool weekends;
  std::span<const Hours> hours;  ///< in the order of their dates

  bool trades_on(std::int64_t date) const { return weekends || weekday(date) < 5; }
  const Hours& on(std::int64_t date) const {
    const auto after = std::find_if(hours.begin(), hours.end(), [=](const Hours& h) { return h.from > date; });
    return *(after - 1);
  }
};

namespace {

constexpr const char* chicago = "America/Chicago";
constexpr std::array exchanges{
    ExchangeHours{"24x7", "UTC", true, around_the_clock},
    ExchangeHours{"cme-equity-index", chicago, false, equity_index},
    ExchangeHours{"cme-energy-metals", chicago, false, energy_metals},
    ExchangeHours{"cme-fx", chicago, false, fx},
    ExchangeHours{"us-equities", "America/New_York", false, us_equities},
};

const ExchangeHours& exchange(const std::string& name) {
  for (const ExchangeHours& hours : exchanges)
    if (name == hours.name) return hours;
  std::vector<std::string> known{"auto"};
  known.insert(known.end(), calendar_names().begin(), calendar_names().end());
  const std::string nearest = nearest_name(name, known);
  throw Error(ExitCode::usage,
              fmt::format("no exchange calendar \"{}\" (data.calendar); expected one of {}{}", name,
                          fmt::join(known, ", "), nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
}

}  // namespace

SessionCalendar::SessionCalendar(const std::string& name) {
  if (name == "none") return;
  hours_ = &exchange(name);
  if (const std::string zone = hours_->zone; zone != "UTC") zone_ = TimeZone(zone);
}

std::string SessionCalendar::name() const { return hours_ ? hours_->name : "none"; }

std::int64_t SessionCalendar::utc_of(std::int64_t date, int minute) const {
  return zone_.to_utc(date * ns_per_day + minute * ns_per_minute);
}

TradingDay SessionCalendar::day_of(std::int64_t utc) const {
  constexpr std::int64_t margin = 30 * ns_per_day;  // keeps the neighbouring days within 64 bits
  utc = std::clamp(utc, std::numeric_limits<std::int64_t>::min() + margin,
                   std::numeric_limits<std::int64_t>::max() - margin);
  const auto opens = [&](std::int64_t date) { return utc_of(date, hours_->on(date).open); };
  std::int64_t date = utc_day(utc + zone_.offset_at(utc)) + 1;
  while (!hours_->trades_on(date) || opens(date) > utc) --date;
  std::int64_t next = date + 1;
  while (!hours_->trades_on(next)) ++next;
  const Hours& hours = hours_->on(date);
  return {date,
          opens(date),
          utc_of(date, hours.close),
          utc_of(date, hours.break_begin),
          utc_of(date, hours.break_end),
          opens(next)};
}

const std::vector<std::string>& calendar_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list{"none"};
    for (const ExchangeHours& hours : exchanges) list.emplace_back(hours.name);
    return list;
  }();
  return names;
}

SessionCalendar calendar_for(const std::string& setting, const Contract& contract, std::vector<std::string>& notes) {
  if (setting != "auto") return SessionCalendar(setting);
  try {
    return SessionCalendar(contract.calendar);
  } catch (const Error& error) {
    notes.push_back(fmt::format("sessions are divided by pauses alone, not by the calendar {}: {}", contract.calendar,
                                error.what()));
    return {};
  }
}

}  // namespace foxhunt::market
