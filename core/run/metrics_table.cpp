#include "core/run/metrics_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace foxhunt::run {
namespace {

std::string csv_field(std::string_view name) {
  if (name.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(name);
  std::string text(1, '"');
  for (const char c : name) {
    if (c == '"') text += c;  // twice
    text += c;
  }
  text += '"';
  return text;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

/// The fields of one line; the names that are written here hold no line break.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (inside && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[i++];
    else if (line[i] == '"')
      inside = !inside;
    else if (line[i] == ',' && !inside)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  return fields;
}

}  // namespace

MetricsTable::MetricsTable(const std::filesystem::path& path) : file_(AppendFile::of_lines(path)) {
  if (file_.size() == 0) return;
  std::string header;
  std::getline(std::ifstream(path), header);
  columns_ = fields_of(header);
  if (columns_.front() != "step")
    throw Error(ExitCode::storage, fmt::format("{}: the first column is \"{}\"; expected step, the header that this "
                                               "program writes; move the file away",
                                               path.string(), columns_.front()));
  columns_.erase(columns_.begin());
}

void MetricsTable::append(std::int64_t step, std::span<const Metric> metrics) {
  std::string text;
  if (file_.size() == 0) {
    columns_.clear();
    text = "step";
    for (const Metric& metric : metrics) text.append(1, ',').append(csv_field(columns_.emplace_back(metric.name)));
    text += '\n';
  }
  text += std::to_string(step);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    // Nearly always the columns' own order.
    auto found =
        i < metrics.size() && metrics[i].name == columns_[i]
            ? metrics.begin() + static_cast<std::ptrdiff_t>(i)
            : std::find_if(metrics.begin(), metrics.end(), [&](const Metric& m) { return m.name == columns_[i]; });
    text.append(1, ',').append(found == metrics.end() ? std::string() : number(found->value));
  }
  text += '\n';
  file_.append(text);
}

}  // namespace foxhunt::run
