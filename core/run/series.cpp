#include "core/run/series.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/storage.h"

namespace foxhunt::run {
namespace {

using Point = Series::Point;

void add(Point& point, double value) {
  if (std::isfinite(value))
    point.mean += (value - point.mean) / static_cast<double>(++point.count);
  else if (point.not_finite == 0)
    point.not_finite = value;
}

Point merged(const Point& a, const Point& b) {
  Point both{a.mean, a.count + b.count, a.not_finite == 0 ? b.not_finite : a.not_finite};
  if (b.count > 0) both.mean += (b.mean - a.mean) * (static_cast<double>(b.count) / static_cast<double>(both.count));
  return both;
}

/// A number, or one of the words that json_text writes for what JSON has no number for.
bool read_number(const nlohmann::ordered_json& value, double& number) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (value.is_number()) return number = value.get<double>(), true;
  if (value == "NaN") return number = std::numeric_limits<double>::quiet_NaN(), true;
  if (value == "Infinity") return number = infinity, true;
  if (value == "-Infinity") return number = -infinity, true;
  return false;
}

/// Halves the points, each standing for twice as many rows.
void thin(Series& series) {
  const std::size_t half = series.step.size() / 2;
  for (std::size_t i = 0; i < half; ++i) series.step[i] = series.step[2 * i + 1];
  series.step.resize(half);
  for (Series::Column& column : series.columns) {
    for (std::size_t i = 0; i < half; ++i) column.points[i] = merged(column.points[2 * i], column.points[2 * i + 1]);
    column.points.resize(half);
  }
  series.rows_per_point *= 2;
}

Point& last_point(Series& series, const std::string& name, std::size_t& guess) {
  auto& columns = series.columns;
  if (guess >= columns.size() || columns[guess].name != name) {  // nearly always the order of the row before
    const auto known = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
    guess = static_cast<std::size_t>(known - columns.begin());
    if (known == columns.end()) columns.push_back({name, std::vector<Point>(series.step.size())});
  }
  return columns[guess++].points.back();
}

void add_row(Series& series, const nlohmann::ordered_json& row, std::size_t max_points) {
  const bool new_point = series.rows % series.rows_per_point == 0;
  if (new_point) {
    if (series.step.size() == max_points) thin(series);
    series.step.push_back(0);
    for (Series::Column& column : series.columns) column.points.emplace_back();
  }
  ++series.rows;
  series.step.back() = row.at("step").get<std::int64_t>();
  std::size_t guess = 0;
  for (const auto& [name, value] : row.items())
    if (double number = 0; name != "step" && read_number(value, number)) add(last_point(series, name, guess), number);
}

}  // namespace

Series read_series(const std::filesystem::path& metrics_file, std::size_t max_points) {
  std::ifstream in(metrics_file);
  if (!in) throw storage_error("open", metrics_file, errno);
  Series series;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    const auto row = nlohmann::ordered_json::parse(line, nullptr, false);
    const bool whole = row.is_object() && row.contains("step") && row["step"].is_number_integer();
    whole ? add_row(series, row, max_points) : void(++series.damaged);
  }
  if (in.bad()) throw storage_error("read", metrics_file, errno);
  return series;
}

}  // namespace foxhunt::run
