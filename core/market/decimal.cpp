#include "core/market/decimal.h"

#include <fmt/format.h>

#include <charconv>

#include "core/market/contract.h"

namespace foxhunt::market {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// value * 10 + digit; false when it would not fit.
bool push_digit(std::uint64_t& value, int digit) {
  constexpr std::uint64_t limit = INT64_MAX;
  if (value > (limit - static_cast<std::uint64_t>(digit)) / 10) return false;
  value = value * 10 + static_cast<std::uint64_t>(digit);
  return true;
}

/// The exponent after 'e', if there is one; false when what follows is no exponent.
bool parse_exponent(std::string_view text, int& exponent) {
  exponent = 0;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  return error == std::errc{} && end == text.data() + text.size() && exponent > -1000 && exponent < 1000;
}

/// [-]digits[.digits] that fits in 18 digits, nine of them decimals: nearly every price there is, in one pass. False
/// for all else, which may still be a number.
bool parse_plain(std::string_view text, std::int64_t& price) {
  constexpr std::int64_t powers[] = {1,       10,        100,        1'000,       10'000,
                                     100'000, 1'000'000, 10'000'000, 100'000'000, 1'000'000'000};
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 19) return false;
  std::uint64_t value = 0;
  std::size_t digits = 0, point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c))
      value = value * 10 + static_cast<std::uint64_t>(c - '0'), ++digits;
    else if (c == '.' && point == text.size())
      point = i;
    else
      return false;
  }
  const std::size_t decimals = point == text.size() ? 0 : text.size() - point - 1;
  if (digits == 0 || digits > 18 || decimals > 9) return false;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(value), powers[9 - decimals], &price)) return false;
  if (negative) price = -price;
  return true;
}

}  // namespace

bool parse_price(std::string_view text, std::int64_t& price) {
  if (parse_plain(text, price)) return true;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  std::size_t end = 0, digits = 0, decimals = 0;
  bool point = false;
  for (; end < text.size() && (is_digit(text[end]) || (text[end] == '.' && !point)); ++end) {
    if (text[end] == '.')
      point = true;
    else
      ++digits, decimals += point;
  }
  int exponent = 0;
  if (digits == 0 || digits > 400 || !parse_exponent(text.substr(end), exponent)) return false;

  // The digit string is the value times 10^(decimals - exponent); 1e-9 units want 10^9 times the value.
  int shift = 9 + exponent - static_cast<int>(decimals);
  const std::int64_t kept = shift >= 0 ? static_cast<std::int64_t>(digits) : static_cast<std::int64_t>(digits) + shift;
  std::uint64_t value = 0;
  std::int64_t seen = 0;
  for (const char c : text.substr(0, end)) {
    if (c == '.') continue;
    if (seen < kept && !push_digit(value, c - '0')) return false;
    if (seen == kept && c >= '5') ++value;  // rounds on the first digit that is left out
    ++seen;
  }
  for (; shift > 0 && value; --shift)
    if (!push_digit(value, 0)) return false;
  if (value > static_cast<std::uint64_t>(INT64_MAX)) return false;
  price = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return true;
}

std::string format_price(std::int64_t price) {
  std::string text;
  append_price(text, price);
  return text;
}

void append_price(std::string& text, std::int64_t price) {
  const std::uint64_t size = price < 0 ? 0 - static_cast<std::uint64_t>(price) : static_cast<std::uint64_t>(price);
  const fmt::format_int whole(size / price_scale);
  if (price < 0) text += '-';
  text.append(whole.data(), whole.size());
  std::uint64_t fraction = size % price_scale;
  if (fraction == 0) return;
  char decimals[] = ".000000000";
  std::size_t last = sizeof decimals - 2;
  while (fraction % 10 == 0) fraction /= 10, --last;
  text.append(decimals, last + 1);
  for (char* digit = &text.back(); fraction != 0; fraction /= 10, --digit)
    *digit = static_cast<char>('0' + fraction % 10);
}

}  // namespace foxhunt::market
