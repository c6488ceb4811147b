#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::market {

/// Where a CSV file keeps what a bar needs; -1: it does not.
struct CsvColumns {
  int time = -1, open = -1, high = -1, low = -1, close = -1, volume = -1;
  int instrument_id = -1, symbol = -1;
  bool fixed_point = false;  ///< Databento's own layout: a price without a point is in 1e-9 units
  std::size_t count = 0;     ///< fields of every row
};

/// Splits a line at `separator`, takes blanks and double quotes off every field.
void split_csv_line(std::string_view line, char separator, std::vector<std::string_view>& fields);

/// The separator that cuts a line into most fields: comma, semicolon or tab.
char separator_of(std::string_view line);

/// Columns by the names of a header, in any case; nothing when a column that a bar needs is missing.
std::optional<CsvColumns> columns_by_name(const std::vector<std::string_view>& header);

/// Columns of a file without a header, by its first row: time, open, high, low, close, volume (which may be missing);
/// nothing when the row does not start with a time and a price.
std::optional<CsvColumns> columns_by_order(const std::vector<std::string_view>& row);

}  // namespace foxhunt::market
