#pragma once
#include <cstdint>
#include <string>

namespace foxhunt::market {

inline constexpr std::int64_t ns_per_second = 1'000'000'000;
inline constexpr std::int64_t ns_per_minute = 60 * ns_per_second;
inline constexpr std::int64_t ns_per_hour = 60 * ns_per_minute;
inline constexpr std::int64_t ns_per_day = 24 * ns_per_hour;

/// a / b rounded down, for b above 0: C++ rounds towards 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// Days since 1970-01-01, rounded down, of a UTC time in ns.
std::int64_t utc_day(std::int64_t ns);

/// UTC ns at the start of a date of the proleptic Gregorian calendar; false when there is no such date or it does not
/// fit (years 1678 to 2261 do).
bool day_start(int year, unsigned month, unsigned day, std::int64_t& ns);

/// YYYYMMDD of a day number.
std::uint32_t yyyymmdd(std::int64_t day);

/// 0 Monday ... 6 Sunday of a day number.
int weekday(std::int64_t day);

/// "2013-10-06 22:00:00", with a fraction only when there is one.
std::string format_utc(std::int64_t ns);

}  // namespace foxhunt::market
