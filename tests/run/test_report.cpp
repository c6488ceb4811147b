#include "core/run/report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/run/metrics.h"
#include "core/run/series.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

namespace {

void write_lines(const std::filesystem::path& file, int count) {
  MetricsLog log(file);
  for (int i = 0; i < count; ++i) log.append(10 * (i + 1), {{"i", static_cast<double>(i)}, {"one", 1}});
}

}  // namespace

TEST_CASE("report: a series keeps every row while it fits, and means of equal rows when it does not") {
  test::TemporaryFolder folder;
  write_lines(folder / "few", 7);
  const Series few = read_series(folder / "few", 8);
  REQUIRE(few.step == std::vector<std::int64_t>{10, 20, 30, 40, 50, 60, 70});
  REQUIRE(few.columns.at(0).points.at(6).value() == 6);

  write_lines(folder / "many", 37);
  const Series many = read_series(folder / "many", 8);
  REQUIRE(many.rows == 37);
  REQUIRE(many.rows_per_point == 8);
  REQUIRE(many.step == std::vector<std::int64_t>{80, 160, 240, 320, 370});
  for (std::size_t p = 0; p < 4; ++p)
    REQUIRE(many.columns.at(0).points.at(p).value() == Approx(8.0 * static_cast<double>(p) + 3.5));
  REQUIRE(many.columns.at(0).points.at(4).value() == Approx(34.0));
  for (const Series::Point& point : many.columns.at(1).points) REQUIRE(point.value() == 1.0);
}

TEST_CASE("report: a NaN among many rows stays in sight") {
  test::TemporaryFolder folder;
  {
    MetricsLog log(folder / "metrics.jsonl");
    for (int i = 0; i < 1000; ++i) log.append(i, {{"loss", i == 500 ? std::nan("") : 1.0}});
    log.append(1000, {{"late", 2}});
  }
  const Series series = read_series(folder / "metrics.jsonl", 16);
  int nans = 0, ones = 0;
  for (const Series::Point& point : series.columns.at(0).points)
    nans += std::isnan(point.value()), ones += point.value() == 1.0;
  REQUIRE(nans == 1);
  REQUIRE(ones == static_cast<int>(series.step.size()) - 1);
  REQUIRE(series.columns.at(1).points.front().absent());
  REQUIRE(series.columns.at(1).points.back().value() == 2);
}

TEST_CASE("report: damaged lines are counted, a line that is being written is not") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "metrics.jsonl")
      << "{\"step\":1,\"a\":2}\nnonsense\n[1]\n{\"a\":3}\n{\"step\":2,\"a\":4}\n{\"st";
  const Series series = read_series(folder / "metrics.jsonl", 8);
  REQUIRE(series.step == std::vector<std::int64_t>{1, 2});
  REQUIRE(series.damaged == 3);
}

TEST_CASE("report: texts cannot become markup, and data keep NaN by name") {
  const std::string nasty = "</script><script>alert(1)</script><!-- & \"quoted\" {{style}}";
  const std::string page = report_html({{"profile", nasty}, {"loss", std::nan("")}});
  REQUIRE(page.find("alert(1)</script>") == std::string::npos);
  const std::string open = "id=\"data\">";
  const std::size_t begin = page.find(open) + open.size(), end = page.find("</script>", begin);
  const auto data = nlohmann::json::parse(page.substr(begin, end - begin));
  REQUIRE(data.at("profile") == nasty);
  REQUIRE(data.at("loss") == "NaN");
  for (const char* outside : {"http://", "https://", "src=", "@import", "url("}) {
    const std::size_t found = page.find(outside);
    INFO(outside);
    REQUIRE((found == std::string::npos || page.substr(found, 40).starts_with("http://www.w3.org/2000/svg")));
  }
}

TEST_CASE("report: a folder without a summary still makes a report, one that is no run's does not") {
  test::TemporaryFolder folder;
  REQUIRE(test::error_of([&] { RunDirectory::open(folder.path()); }).starts_with("2 " + folder.path().string()));
  std::ofstream(folder / "profile.toml") << "name = \"x\"\n";
  const RunDirectory directory = RunDirectory::open(folder.path());
  const auto data = report_data(directory);
  REQUIRE(data.at("summary").is_null());
  REQUIRE(data.at("notes").size() == 1);
  write_report(directory, directory.report_file());
  REQUIRE(text_of(directory.report_file()).starts_with("<!DOCTYPE html>"));

  REQUIRE(data.at("gate").is_null());
  std::ofstream(directory.gate_file()) << "{\"verdict\": \"PASS\"}";
  REQUIRE(report_data(directory).at("gate").at("verdict") == "PASS");

  std::ofstream(directory.summary_file()) << "{\"cut\": ";
  const std::string error = test::error_of([&] { write_report(directory, folder / "new.html"); });
  REQUIRE(error.starts_with("7 " + directory.summary_file().string()));
  REQUIRE_FALSE(std::filesystem::exists(folder / "new.html"));
}
