#include "core/market/time_text.h"

#include <algorithm>
#include <charconv>

#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

// The years 1826 to 2116: a time plus an interval, and the distance of two times, cannot overflow.
constexpr std::int64_t latest_time = INT64_MAX / 2, earliest_time = -latest_time + 1000 * ns_per_day;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes fields off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool digits(int count, int& value) {
    value = 0;
    if (text_.size() < static_cast<std::size_t>(count)) return false;
    for (int i = 0; i < count; ++i) {
      if (!is_digit(text_[static_cast<std::size_t>(i)])) return false;
      value = value * 10 + (text_[static_cast<std::size_t>(i)] - '0');
    }
    text_.remove_prefix(static_cast<std::size_t>(count));
    return true;
  }
  bool one_of(std::string_view set) {
    if (text_.empty() || set.find(text_[0]) == std::string_view::npos) return false;
    last_ = text_[0];
    text_.remove_prefix(1);
    return true;
  }
  char last() const { return last_; }
  bool done() const { return text_.empty(); }
  bool at_digit() const { return !text_.empty() && is_digit(text_[0]); }

  /// Digits of a fraction of a second, in ns; those beyond the ninth are dropped.
  bool fraction(std::int64_t& ns) {
    if (!at_digit()) return false;
    ns = 0;
    for (std::int64_t unit = ns_per_second / 10; at_digit(); unit /= 10) {
      ns += (text_[0] - '0') * unit;
      text_.remove_prefix(1);
    }
    return true;
  }

 private:
  std::string_view text_;
  char last_ = 0;
};

/// [hh[:]mm[[:]ss[.fraction]]] and an optional zone, after a date; adds to ns.
bool parse_clock(Scanner& scan, std::int64_t& ns) {
  int hour = 0, minute = 0, second = 0;
  std::int64_t fraction = 0;
  if (!scan.digits(2, hour)) return false;
  const bool colons = scan.one_of(":");
  if (!scan.digits(2, minute)) return false;
  if ((colons ? scan.one_of(":") : scan.at_digit()) && !scan.digits(2, second)) return false;
  if (scan.one_of(".,") && !scan.fraction(fraction)) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  ns += hour * ns_per_hour + minute * ns_per_minute + second * ns_per_second + fraction;
  return true;
}

/// Nothing, Z, or hours and minutes ahead of UTC.
bool parse_zone(Scanner& scan, WrittenTime& time) {
  if (scan.done()) return true;
  time.local = false;
  if (scan.one_of("zZ")) return true;
  if (!scan.one_of("+-")) return false;
  const int sign = scan.last() == '+' ? 1 : -1;
  int hours = 0, minutes = 0;
  if (!scan.digits(2, hours)) return false;
  if ((scan.one_of(":") || scan.at_digit()) && !scan.digits(2, minutes)) return false;
  if (hours > 18 || minutes > 59) return false;
  time.ns -= sign * (hours * ns_per_hour + minutes * ns_per_minute);
  return true;
}

bool parse_rest(Scanner& scan, WrittenTime& time) {
  time.local = true;
  if (scan.done()) return true;
  if (!scan.one_of("T ") || !parse_clock(scan, time.ns)) return false;
  return parse_zone(scan, time) && scan.done();
}

bool parse_date(int year, int month, int day, WrittenTime& time) {
  return day_start(year, static_cast<unsigned>(month), static_cast<unsigned>(day), time.ns);
}

bool parse_iso(std::string_view text, WrittenTime& time) {
  Scanner scan(text);
  int year = 0, month = 0, day = 0;
  if (!scan.digits(4, year)) return false;
  const char separator = scan.one_of("-/.") ? scan.last() : 0;
  const auto separated = [&] { return !separator || scan.one_of({&separator, 1}); };
  if (!scan.digits(2, month) || !separated() || !scan.digits(2, day)) return false;
  return parse_date(year, month, day, time) && parse_rest(scan, time);
}

bool parse_dotted(std::string_view text, WrittenTime& time) {
  Scanner scan(text);
  int year = 0, month = 0, day = 0;
  if (!scan.digits(2, day) || !scan.one_of(".") || !scan.digits(2, month) || !scan.one_of(".") || !scan.digits(4, year))
    return false;
  return parse_date(year, month, day, time) && parse_rest(scan, time);
}

bool parse_epoch(std::string_view text, std::int64_t unit, WrittenTime& time) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > latest_time / unit) return false;
  Scanner fraction(text.substr(static_cast<std::size_t>(end - text.data())));
  std::int64_t billionths = 0;
  if (!fraction.done() && !(fraction.one_of(".") && fraction.fraction(billionths) && fraction.done())) return false;
  // A fraction of a unit is below it, and units are powers of ten up to 1e9: exact.
  const std::int64_t ns = value * unit + billionths / (ns_per_second / unit);
  time = {negative ? -ns : ns, false};
  return true;
}

}  // namespace

const std::vector<std::string>& time_format_names() {
  static const std::vector<std::string> names{"iso", "dotted", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns"};
  return names;
}

std::optional<TimeFormat> time_format_of(std::string_view text) {
  const auto digits = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  const bool number = digits >= 9 && (digits == text.size() || text[digits] == '.');
  TimeFormat format = digits == 2 ? TimeFormat::dotted : TimeFormat::iso;
  if (number)
    format = digits <= 11   ? TimeFormat::epoch_s
             : digits <= 14 ? TimeFormat::epoch_ms
             : digits <= 17 ? TimeFormat::epoch_us
                            : TimeFormat::epoch_ns;
  return parse_time(text, format) ? std::optional(format) : std::nullopt;
}

std::optional<WrittenTime> parse_time(std::string_view text, TimeFormat format) {
  const auto parsed = [&](WrittenTime& time) {
    switch (format) {
      case TimeFormat::iso:
        return parse_iso(text, time);
      case TimeFormat::dotted:
        return parse_dotted(text, time);
      case TimeFormat::epoch_s:
        return parse_epoch(text, ns_per_second, time);
      case TimeFormat::epoch_ms:
        return parse_epoch(text, 1'000'000, time);
      case TimeFormat::epoch_us:
        return parse_epoch(text, 1'000, time);
      case TimeFormat::epoch_ns:
        return parse_epoch(text, 1, time);
    }
    return false;
  };
  WrittenTime time{};
  if (!parsed(time) || time.ns > latest_time || time.ns < earliest_time) return std::nullopt;
  return time;
}

}  // namespace foxhunt::market
