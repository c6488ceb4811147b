#include "core/market/civil_time.h"

#include <fmt/format.h>

#include <chrono>

namespace foxhunt::market {
namespace {

std::chrono::year_month_day date_of(std::int64_t day) {
  return std::chrono::sys_days{std::chrono::days{static_cast<int>(day)}};
}

}  // namespace

std::int64_t utc_day(std::int64_t ns) { return floor_div(ns, ns_per_day); }

bool day_start(int year, unsigned month, unsigned day, std::int64_t& ns) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!date.ok() || year < 1678 || year > 2261) return false;
  ns = std::int64_t{std::chrono::sys_days{date}.time_since_epoch().count()} * ns_per_day;
  return true;
}

std::uint32_t yyyymmdd(std::int64_t day) {
  const auto date = date_of(day);
  return static_cast<std::uint32_t>(int{date.year()}) * 10'000 + unsigned{date.month()} * 100 + unsigned{date.day()};
}

int weekday(std::int64_t day) { return static_cast<int>(((day + 3) % 7 + 7) % 7); }

std::string format_utc(std::int64_t ns) {
  const std::int64_t day = utc_day(ns);
  const std::int64_t of_day = ns - day * ns_per_day;
  const std::int64_t seconds = of_day / ns_per_second, fraction = of_day % ns_per_second;
  const auto date = date_of(day);
  std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", int{date.year()}, unsigned{date.month()},
                                 unsigned{date.day()}, seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (fraction) text += fmt::format(".{:09}", fraction);
  return text;
}

}  // namespace foxhunt::market
