#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace foxhunt::market {

/// How a file writes its times. All without a zone are UTC.
enum class TimeFormat {
  calendar,  ///< 2013-10-06[T22:00[:00[.123]]][Z|+01:00], also with / or no separator in the date
  dotted,    ///< 06.10.2013 22:00:00.000
  seconds,   ///< since 1970, a fraction is allowed
  milliseconds,
  microseconds,
  nanoseconds,
};

/// The format of one time as text; nothing when it is none. A plain number is taken in the unit that puts it between
/// 1973 and 5138.
std::optional<TimeFormat> time_format_of(std::string_view text);

/// UTC ns of a time in this format; nothing when the text is not one, or lies outside 1678 to 2116.
std::optional<std::int64_t> parse_time(std::string_view text, TimeFormat format);

}  // namespace foxhunt::market
