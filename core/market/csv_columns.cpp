#include "core/market/csv_columns.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "core/market/decimal.h"
#include "core/market/time_text.h"

namespace foxhunt::market {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(blank) - first + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Index of the first of `names` that the header has; names come in order of preference.
int find_column(const std::vector<std::string>& header, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto at = std::find(header.begin(), header.end(), name);
    if (at != header.end()) return static_cast<int>(at - header.begin());
  }
  return -1;
}

}  // namespace

void split_csv_line(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    fields.push_back(trimmed(line.substr(begin, end - begin)));
    if (end == line.size()) return;
    begin = end + 1;
  }
}

char separator_of(std::string_view line) {
  constexpr std::array candidates{',', ';', '\t'};
  return *std::max_element(candidates.begin(), candidates.end(), [&](char a, char b) {
    return std::count(line.begin(), line.end(), a) < std::count(line.begin(), line.end(), b);
  });
}

std::optional<CsvColumns> columns_by_name(const std::vector<std::string_view>& header) {
  std::vector<std::string> names;
  for (const std::string_view name : header) names.push_back(lower(name));
  CsvColumns columns;
  columns.time = find_column(names, {"ts_event", "timestamp", "timestamp_utc", "datetime", "time", "gmt time",
                                     "open time", "open_time", "date"});
  columns.open = find_column(names, {"open"});
  columns.high = find_column(names, {"high"});
  columns.low = find_column(names, {"low"});
  columns.close = find_column(names, {"close"});
  columns.volume = find_column(names, {"volume"});
  columns.instrument_id = find_column(names, {"instrument_id"});
  columns.symbol = find_column(names, {"symbol"});
  columns.fixed_point = find_column(names, {"rtype"}) >= 0 && find_column(names, {"publisher_id"}) >= 0;
  columns.count = header.size();
  if (std::min({columns.time, columns.open, columns.high, columns.low, columns.close}) < 0) return std::nullopt;
  return columns;
}

std::optional<CsvColumns> columns_by_order(const std::vector<std::string_view>& row) {
  std::int64_t price = 0;
  if (row.size() < 5 || !time_format_of(row[0]) || !parse_price(row[1], price)) return std::nullopt;
  CsvColumns columns{0, 1, 2, 3, 4, row.size() > 5 ? 5 : -1};
  columns.count = row.size();
  return columns;
}

}  // namespace foxhunt::market
