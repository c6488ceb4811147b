#include "core/run/metrics_table.h"

#include <limits>

#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

namespace {
using Row = std::vector<Metric>;
}

TEST_CASE("metrics: the table's header is the first row's, and NaN stays NaN") {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  test::TemporaryFolder folder;
  MetricsTable table(folder / "metrics.csv");
  table.append(10, Row{{"loss", 0.1}, {"a,\"b\"", -2}});
  table.append(20, Row{{"a,\"b\"", kNaN}, {"loss", -kInfinity}, {"new", 5}});
  table.append(30, Row{{"loss", 1e-300}});
  REQUIRE(text_of(folder / "metrics.csv") == "step,loss,\"a,\"\"b\"\"\"\n10,0.1,-2\n20,-Infinity,NaN\n30,1e-300,\n");
}

TEST_CASE("metrics: a table goes on after its last whole row with the columns that it has") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "metrics.csv") << "step,\"q\"\"x\",loss\n1,2,3\n2,4";
  MetricsTable(folder / "metrics.csv").append(2, Row{{"loss", 6}, {"q\"x", 5}});
  REQUIRE(text_of(folder / "metrics.csv") == "step,\"q\"\"x\",loss\n1,2,3\n2,5,6\n");

  std::ofstream(folder / "other.csv") << "time,price\n";
  REQUIRE(test::error_of([&] { MetricsTable(folder / "other.csv"); }).find("expected step") != std::string::npos);
}

TEST_CASE("metrics: a full disk leaves a table of whole rows") {
  test::TemporaryFolder folder, scratch;
  const std::string error = test::error_with_file_limit(scratch / "result", 1000, [&] {
    MetricsTable table(folder / "metrics.csv");
    for (int step = 0; step < 1000; ++step) table.append(step, Row{{"loss", 0.5}});
  });
  REQUIRE(error.starts_with("7 cannot append to "));
  REQUIRE(text_of(folder / "metrics.csv").ends_with(",0.5\n"));
}
