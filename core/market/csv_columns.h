#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/market/csv_options.h"

namespace foxhunt::market {

class CsvRows;

/// Where a CSV file keeps what a bar needs; -1: it does not.
struct CsvColumns {
  int time = -1;
  int clock = -1;  ///< time of day, where the date stands in a column of its own
  int open = -1, high = -1, low = -1, close = -1, volume = -1;
  int instrument_id = -1, symbol = -1;
  std::vector<int> features;
  bool header = false;       ///< the first row is one
  bool fixed_point = false;  ///< Databento's own layout: a price without a point is in 1e-9 units
  std::string time_name;     ///< of the header, in small letters
};

/// From the first row of a file, which `rows` is at. Throws Error(data) that names what is missing and the key to set.
CsvColumns bar_columns(const CsvRows& rows, const CsvOptions& options);

/// The column that a key names, by its name in the header or its number. Throws Error(data) when there is none.
int find_column(const CsvRows& rows, const CsvOptions& options, const std::string& wanted, const char* key);

/// A header's names in small letters, without the angle brackets that some programs put around them.
std::vector<std::string> header_names(const CsvRows& rows);

/// Index of the first of `names` that the header has, in order of preference; -1: it has none of them.
int first_column(const std::vector<std::string>& header, std::initializer_list<std::string_view> names);

/// Whether a row of data, and not of names: most of its fields are numbers or times.
bool is_data_row(const std::vector<std::string_view>& fields, const CsvOptions& options);

}  // namespace foxhunt::market
