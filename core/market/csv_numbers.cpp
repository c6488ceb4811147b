#include "core/market/csv_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/market/books.h"
#include "core/market/decimal.h"

namespace foxhunt::market {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

template <class T>
bool parse_whole(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

bool says_missing(std::string_view field) {
  static constexpr std::array<std::string_view, 16> words{"",     "nan",      "na",  "n/a",      "#n/a", "null",
                                                          "none", "nil",      "nat", "-",        "inf",  "+inf",
                                                          "-inf", "infinity", "--",  "-infinity"};
  if (field.size() > 9 || (!field.empty() && is_digit(field.back()))) return false;
  char lower[9];
  std::transform(field.begin(), field.end(), lower,
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::find(words.begin(), words.end(), std::string_view(lower, field.size())) != words.end();
}

/// The number with a point before its decimals and nothing between its thousands. False when the marks are not where
/// they belong: groups have three digits, and only the first may have fewer.
bool CsvNumbers::plain(std::string_view field, std::string_view& number) {
  const char mark = comma_decimals_ ? ',' : '.', group = comma_decimals_ ? '.' : ',';
  if (field.find(',') == std::string_view::npos && !(comma_decimals_ && field.find('.') != std::string_view::npos)) {
    number = field;
    return true;
  }
  const std::size_t whole_end = std::min(field.find(mark), field.size());
  plain_.clear();
  std::size_t digits = 0;
  bool grouped = false;
  for (const char c : field.substr(0, whole_end)) {
    if (c != group) {
      plain_ += c;
      digits += is_digit(c);
      continue;
    }
    if (digits == 0 || digits > 3 || (grouped && digits != 3)) return false;
    grouped = true;
    digits = 0;
  }
  if (grouped && digits != 3) return false;
  any_grouped_ |= grouped;
  if (whole_end < field.size()) plain_.append(".").append(field.substr(whole_end + 1));
  number = plain_;
  return number.find(',') == std::string_view::npos;
}

bool CsvNumbers::price(std::string_view field, std::int64_t& value) {
  if (fixed_point_ && field.find('.') == std::string_view::npos && !field.empty()) return parse_whole(field, value);
  if (!comma_decimals_ && parse_price(field, value)) return true;
  std::string_view number;
  if (plain(field, number) && parse_price(number, value)) return true;
  value = no_price;
  return says_missing(field);
}

bool CsvNumbers::number(std::string_view field, double& value) {
  constexpr double largest = 1e100;
  std::string_view number;
  if (plain(field, number)) {
    if (number.starts_with('+')) number.remove_prefix(1);
    if (parse_whole(number, value) && std::abs(value) <= largest) return true;
  }
  value = std::numeric_limits<double>::quiet_NaN();
  return says_missing(field);
}

bool CsvNumbers::count(std::string_view field, std::uint64_t& value) {
  if (parse_whole(field, value)) return value <= std::uint64_t{INT64_MAX};
  double size = 0;
  if (!number(field, size)) return false;
  if (std::isnan(size)) size = 0;
  if (!(size >= 0 && size < 1e18)) return false;
  value = static_cast<std::uint64_t>(size + 0.5);
  return true;
}

}  // namespace foxhunt::market
