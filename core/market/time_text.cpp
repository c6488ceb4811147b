#include "core/market/time_text.h"

#include <algorithm>
#include <charconv>

#include "core/market/civil_time.h"
#include "core/market/decimal.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t latest_time = INT64_MAX / 2;  // a time plus an interval cannot overflow

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

bool parse_zone(Scanner& scan, std::int64_t& ns) {
  if (scan.one_of("zZ")) return true;
  if (!scan.one_of("+-")) return true;
  const int sign = scan.last() == '+' ? 1 : -1;
  int hours = 0, minutes = 0;
  if (!scan.digits(2, hours)) return false;
  if ((scan.one_of(":") || scan.at_digit()) && !scan.digits(2, minutes)) return false;
  if (hours > 18 || minutes > 59) return false;
  ns -= sign * (hours * ns_per_hour + minutes * ns_per_minute);
  return true;
}

bool parse_rest(Scanner& scan, std::int64_t& ns) {
  if (scan.done()) return true;
  if (!scan.one_of("T ") || !parse_clock(scan, ns)) return false;
  return parse_zone(scan, ns) && scan.done();
}

bool parse_calendar(std::string_view text, std::int64_t& ns) {
  Scanner scan(text);
  int year = 0, month = 0, day = 0;
  if (!scan.digits(4, year)) return false;
  const std::string_view separator = scan.one_of("-") ? "-" : scan.one_of("/") ? "/" : "";
  if (!scan.digits(2, month) || (!separator.empty() && !scan.one_of(separator)) || !scan.digits(2, day)) return false;
  return day_start(year, static_cast<unsigned>(month), static_cast<unsigned>(day), ns) && parse_rest(scan, ns);
}

bool parse_dotted(std::string_view text, std::int64_t& ns) {
  Scanner scan(text);
  int year = 0, month = 0, day = 0;
  if (!scan.digits(2, day) || !scan.one_of(".") || !scan.digits(2, month) || !scan.one_of(".") || !scan.digits(4, year))
    return false;
  return day_start(year, static_cast<unsigned>(month), static_cast<unsigned>(day), ns) && parse_rest(scan, ns);
}

bool parse_epoch(std::string_view text, std::int64_t unit, std::int64_t& ns) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > latest_time / unit) return false;
  ns = value * unit;
  return true;
}

}  // namespace

std::optional<TimeFormat> time_format_of(std::string_view text) {
  const auto digits = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  const bool number = digits >= 9 && (digits == text.size() || text[digits] == '.');
  std::optional<TimeFormat> format;
  if (number)
    format = digits <= 11   ? TimeFormat::seconds
             : digits <= 14 ? TimeFormat::milliseconds
             : digits <= 17 ? TimeFormat::microseconds
                            : TimeFormat::nanoseconds;
  else
    format = digits == 2 ? TimeFormat::dotted : TimeFormat::calendar;
  return parse_time(text, *format) ? format : std::nullopt;
}

std::optional<std::int64_t> parse_time(std::string_view text, TimeFormat format) {
  std::int64_t ns = 0;
  bool right = false;
  switch (format) {
    case TimeFormat::calendar:
      right = parse_calendar(text, ns);
      break;
    case TimeFormat::dotted:
      right = parse_dotted(text, ns);
      break;
    case TimeFormat::seconds:
      right = parse_price(text, ns);
      break;  // 1e-9 units are ns
    case TimeFormat::milliseconds:
      right = parse_epoch(text, 1'000'000, ns);
      break;
    case TimeFormat::microseconds:
      right = parse_epoch(text, 1'000, ns);
      break;
    case TimeFormat::nanoseconds:
      right = parse_epoch(text, 1, ns);
      break;
  }
  if (!right || ns > latest_time) return std::nullopt;
  return ns;
}

}  // namespace foxhunt::market
