#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace foxhunt::market {

/// Whether a field says that there is no number: nothing, nan, na, n/a, null, none, nat, inf or -, in any case.
bool says_missing(std::string_view field);

/// Reads the numbers of a file in its way of writing them.
class CsvNumbers {
 public:
  /// `comma_decimals`: 1.234,5 rather than 1,234.5. `fixed_point`: a price without a mark is in 1e-9 units, as
  /// Databento writes it.
  explicit CsvNumbers(bool comma_decimals = false, bool fixed_point = false)
      : comma_decimals_(comma_decimals), fixed_point_(fixed_point) {}

  /// Price in 1e-9 points; INT64_MAX for a missing one. False when the field is no number or does not fit.
  bool price(std::string_view field, std::int64_t& value);
  /// A finite number up to 1e100, so that sums of squares are finite too; NaN for a missing one.
  bool number(std::string_view field, double& value);
  /// Whole number of 0 or more, or a fraction (some vendors scale volumes) rounded to one; 0 for a missing one.
  bool count(std::string_view field, std::uint64_t& value);

  /// Whether some number read so far had its thousands grouped: "1,234".
  bool any_grouped() const { return any_grouped_; }

 private:
  bool plain(std::string_view field, std::string_view& number);

  bool comma_decimals_, fixed_point_;
  bool any_grouped_ = false;
  std::string plain_;
};

}  // namespace foxhunt::market
