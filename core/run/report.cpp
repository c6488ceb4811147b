#include "core/run/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "core/run/json.h"
#include "core/run/report_page.h"
#include "core/run/series.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

constexpr std::size_t max_points = 800;  // a chart is at most as many pixels wide

bool in_folder(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf())) throw storage_error("read", file, errno);
  return std::move(text).str();
}

nlohmann::ordered_json json_of(const std::filesystem::path& file) {
  if (!in_folder(file)) return nullptr;
  try {
    return nlohmann::ordered_json::parse(text_of(file));
  } catch (const nlohmann::json::parse_error& error) {
    throw Error(ExitCode::storage, fmt::format("{}: no JSON at byte {}; expected the file as the run wrote it; restore "
                                               "it, or remove it to have a report without it",
                                               file.string(), error.byte));
  }
}

nlohmann::ordered_json metrics_json(const Series& series) {
  auto columns = nlohmann::ordered_json::object();
  for (const Series::Column& column : series.columns) {
    auto& values = columns[column.name] = nlohmann::ordered_json::array();
    for (const Series::Point& point : column.points)
      values.push_back(point.absent() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(point.value()));
  }
  return {
      {"step", series.step}, {"columns", columns}, {"rows", series.rows}, {"rows_per_point", series.rows_per_point}};
}

/// JSON inside a script element: "</script" or "<!--" in a text must not be read as markup.
std::string without_markup(std::string json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) c == '<' ? safe += "\\u003c" : safe += c;
  return safe;
}

/// Puts `text` where the skeleton says {{NAME}}.
void fill(std::string& page, const std::string& name, std::string_view text) {
  const std::string place = "{{" + name + "}}";
  page.replace(page.find(place), place.size(), text);
}

}  // namespace

nlohmann::ordered_json report_data(const RunDirectory& directory) {
  nlohmann::ordered_json data;
  auto notes = nlohmann::ordered_json::array();
  data["summary"] = json_of(directory.summary_file());
  data["evaluation"] = json_of(directory.evaluation_file());
  data["gate"] = json_of(directory.gate_file());
  data["environment"] = json_of(directory.environment_file());
  data["profile"] = text_of(directory.latest_profile_file());
  data["command"] = in_folder(directory.command_file()) ? text_of(directory.command_file()) : "";
  const Series series =
      in_folder(directory.metrics_file()) ? read_series(directory.metrics_file(), max_points) : Series{};
  data["metrics"] = metrics_json(series);
  if (data["summary"].is_null()) notes.push_back("The run has left no summary: it goes on, or an error ended it.");
  if (data["summary"].is_object() && data["summary"].value("alpha_saw_test", nlohmann::ordered_json()) == true)
    notes.push_back("The alpha model behind the features has seen rows of the test split: see the warning in log.txt.");
  if (series.rows_per_point > 1)
    notes.push_back(
        fmt::format("Training charts show the mean of {} rows of metrics.jsonl a point.", series.rows_per_point));
  if (series.damaged > 0)
    notes.push_back(fmt::format("{} damaged lines of metrics.jsonl are left out.", series.damaged));
  data["notes"] = std::move(notes);
  return data;
}

std::string report_html(const nlohmann::ordered_json& data) {
  std::string page(report_page_html);
  fill(page, "style", report_page_css);
  fill(page, "script", report_page_js);
  fill(page, "data", without_markup(json_text(data)));
  return page;
}

void write_report(const RunDirectory& directory, const std::filesystem::path& file) {
  write_file_atomically(file, report_html(report_data(directory)));
}

}  // namespace foxhunt::run
