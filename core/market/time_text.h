#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::market {

/// How a file writes its times.
enum class TimeFormat {
  iso,       ///< 2013-10-06[T22:00[:00[.123]]][Z|+01:00], also with / or . or nothing between the parts of the date
  dotted,    ///< 06.10.2013 22:00:00.000
  epoch_s,   ///< since 1970-01-01 UTC, in seconds; here and below, a fraction is allowed
  epoch_ms,  ///< milliseconds
  epoch_us,  ///< microseconds
  epoch_ns,  ///< nanoseconds
};

/// "iso", "dotted", "epoch_s", ...: in the order of the formats, as data.csv_time_format spells them.
const std::vector<std::string>& time_format_names();

/// The format of one time as text; nothing when it is none. A plain number is taken in the unit that puts it between
/// 1973 and 5138.
std::optional<TimeFormat> time_format_of(std::string_view text);

struct WrittenTime {
  std::int64_t ns;  ///< since 1970
  bool local;       ///< the text names no zone: ns counts what some wall clock showed. Else UTC
};

/// Nothing when the text is no time of this format, or lies outside 1826 to 2116.
std::optional<WrittenTime> parse_time(std::string_view text, TimeFormat format);

}  // namespace foxhunt::market
