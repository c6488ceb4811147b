#include "core/market/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "core/error.h"
#include "core/market/csv_numbers.h"
#include "core/market/csv_rows.h"
#include "core/market/time_text.h"

namespace foxhunt::market {
namespace {

using Names = std::vector<std::string>;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

int find_name(const Names& header, std::string_view name) {
  const auto at = std::find(header.begin(), header.end(), name);
  return at == header.end() ? -1 : static_cast<int>(at - header.begin());
}

/// hh:mm or hh:mm:ss, as a column of times of day has it.
bool is_clock(std::string_view text) {
  return parse_time("2000-01-01 " + std::string(text), TimeFormat::iso).has_value();
}

/// Resolves columns in one file.
class Finder {
 public:
  Finder(const CsvRows& rows, const CsvOptions& options)
      : rows_(rows), has_header_(!is_data_row(rows.fields(), options)) {
    if (has_header_) header_ = header_names(rows);
  }
  bool has_header() const { return has_header_; }
  const Names& header() const { return header_; }

  /// The column that a key names, else one of the usual names or (no header) the usual place, else -1.
  int find(const std::string& wanted, const char* key, std::initializer_list<std::string_view> usual, int place) const {
    if (!wanted.empty()) return named(wanted, key);
    if (has_header_) return first_column(header_, usual);
    return place < static_cast<int>(rows_.fields().size()) ? place : -1;
  }

  /// By name or by number. Throws Error(data) when there is none.
  int named(const std::string& wanted, const char* key) const {
    if (const int at = find_name(header_, lower(wanted)); at >= 0) return at;
    int number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    const bool whole = error == std::errc{} && end == wanted.data() + wanted.size();
    if (whole && number >= 1 && number <= static_cast<int>(rows_.fields().size())) return number - 1;
    if (!has_header_)
      rows_.fail(fmt::format("no header, so there is no column \"{}\" ({}); give its number, 1 to {}", wanted, key,
                             rows_.fields().size()));
    const std::string near = nearest_name(lower(wanted), header_);
    rows_.fail(fmt::format("no column \"{}\" ({}); {}", wanted, key,
                           near.empty() ? "the header has " + known() : "did you mean \"" + printable(near) + "\"?"));
  }

  std::string known() const {
    std::string text;
    for (const std::string& name : header_) text += (text.empty() ? "" : ", ") + name;
    return quoted_field(text);
  }

 private:
  const CsvRows& rows_;
  bool has_header_;
  Names header_;
};

void check_found(const CsvRows& rows, const Finder& find, const CsvColumns& columns) {
  std::string missing;
  for (const auto& [column, name] : {std::pair{columns.time, "time"},
                                     {columns.open, "open"},
                                     {columns.high, "high"},
                                     {columns.low, "low"},
                                     {columns.close, "close"}})
    if (column < 0) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  if (missing.empty()) return;
  if (!find.has_header())
    rows.fail(fmt::format("no header, and {} fields; expected rows of time, open, high, low, close, volume",
                          rows.fields().size()));
  rows.fail(
      fmt::format("starts with {}, no column for {}; expected a header that names time, open, high, low and close, "
                  "or rows of time, open, high, low, close, volume; other names can be given by data.csv_{}_column",
                  quoted_field(rows.field(0)), missing, missing.substr(0, missing.find(','))));
}

/// A file without a header starts with a time, unless its columns are given.
void check_order(const CsvRows& rows, const CsvColumns& columns, const CsvOptions& options) {
  if (options.time_format != "auto" || time_format_of(rows.field(columns.time))) return;
  rows.fail(
      fmt::format("starts with {}, which is no time; expected a header that names time, open, high, low and close, "
                  "or rows of time, open, high, low, close, volume",
                  quoted_field(rows.field(columns.time))));
}

}  // namespace

int first_column(const std::vector<std::string>& header, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const int at = find_name(header, name); at >= 0) return at;
  return -1;
}

int find_column(const CsvRows& rows, const CsvOptions& options, const std::string& wanted, const char* key) {
  return Finder(rows, options).named(wanted, key);
}

std::vector<std::string> header_names(const CsvRows& rows) {
  Names names;
  for (std::string_view name : rows.fields()) {
    if (name.size() >= 2 && name.front() == '<' && name.back() == '>') name = name.substr(1, name.size() - 2);
    names.push_back(lower(name));
  }
  return names;
}

bool is_data_row(const std::vector<std::string_view>& fields, const CsvOptions& options) {
  CsvNumbers numbers(options.decimal == "comma");
  const auto is_data = [&](std::string_view field) {
    double number = 0;
    return !says_missing(field) && (numbers.number(field, number) || time_format_of(field).has_value());
  };
  return 2 * std::count_if(fields.begin(), fields.end(), is_data) > static_cast<std::ptrdiff_t>(fields.size()) ||
         (fields.size() >= 5 && time_format_of(fields[0]).has_value());
}

CsvColumns bar_columns(const CsvRows& rows, const CsvOptions& options) {
  const Finder find(rows, options);
  CsvColumns columns;
  columns.header = find.has_header();
  columns.time = find.find(options.time_column, "data.csv_time_column",
                           {"ts_event", "timestamp", "timestamp_utc", "datetime", "date_time", "date time", "gmt time",
                            "local time", "open time", "open_time", "date", "time", "unix", "close time", "close_time"},
                           0);
  const bool date =
      columns.time >= 0 && columns.header && find.header()[static_cast<std::size_t>(columns.time)] == "date";
  if (date && options.time_column.empty()) columns.clock = find_name(find.header(), "time");
  if (!columns.header && options.time_column.empty() && rows.fields().size() > 5 && is_clock(rows.field(1)))
    columns.clock = 1;
  const int first = columns.clock == 1 && !columns.header ? 2 : 1;
  columns.open = find.find(options.open_column, "data.csv_open_column", {"open", "o"}, first);
  columns.high = find.find(options.high_column, "data.csv_high_column", {"high", "h"}, first + 1);
  columns.low = find.find(options.low_column, "data.csv_low_column", {"low", "l"}, first + 2);
  columns.close = find.find(options.close_column, "data.csv_close_column", {"close", "c"}, first + 3);
  columns.volume = find.find(options.volume_column, "data.csv_volume_column",
                             {"volume", "vol", "tick_volume", "tickvol"}, first + 4);
  columns.symbol = find.find(options.symbol_column, "data.csv_symbol_column", {"symbol", "ticker"}, -1);
  check_found(rows, find, columns);
  if (!columns.header) {
    check_order(rows, columns, options);
  } else {
    columns.instrument_id = find_name(find.header(), "instrument_id");
    columns.fixed_point = find_name(find.header(), "rtype") >= 0 && find_name(find.header(), "publisher_id") >= 0;
    columns.time_name = find.header()[static_cast<std::size_t>(columns.time)];
  }
  for (const std::string& name : options.features) columns.features.push_back(find.named(name, "data.csv_features"));
  return columns;
}

}  // namespace foxhunt::market
