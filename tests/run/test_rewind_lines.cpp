#include "core/run/rewind_lines.h"

#include "core/run/metrics.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

TEST_CASE("rewind_lines: lines up to the step stay, and the log goes on after them") {
  test::TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  {
    MetricsLog log(file);
    for (const std::int64_t step : {10, 20, 30, 40}) log.append(step, {{"loss", 0.5}});
  }
  const std::string whole = text_of(file);
  rewind_lines(file, 40);
  REQUIRE(text_of(file) == whole);
  rewind_lines(file, 25);
  REQUIRE(text_of(file) == "{\"step\":10,\"loss\":0.5}\n{\"step\":20,\"loss\":0.5}\n");
  {
    MetricsLog log(file);
    for (const std::int64_t step : {30, 40}) log.append(step, {{"loss", 0.5}});
  }
  REQUIRE(text_of(file) == whole);
  rewind_lines(file, 0);
  REQUIRE(text_of(file).empty());
}

TEST_CASE("rewind_lines: a table keeps its header and the rows up to the step") {
  test::TemporaryFolder folder;
  const auto file = folder / "metrics.csv";
  const std::string whole = "step,loss\n10,0.5\n20,NaN\n30,0.25\n";
  for (const auto& [last_step, kept] : {std::pair(30, "step,loss\n10,0.5\n20,NaN\n30,0.25\n"),
                                        std::pair(29, "step,loss\n10,0.5\n20,NaN\n"), std::pair(0, "step,loss\n")}) {
    std::ofstream(file, std::ios::trunc) << whole << "40,0.2";
    rewind_lines(file, last_step);
    REQUIRE(text_of(file) == kept);
  }
  std::ofstream(file, std::ios::trunc) << "step,loss\nstep,loss\n10,0.5\n";
  rewind_lines(file, 30);
  REQUIRE(text_of(file) == "step,loss\n");
}

TEST_CASE("rewind_lines: a line that was cut, or is none of the log's, ends what is kept") {
  test::TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  const std::string good = "{\"step\":10,\"loss\":0.5}\n";
  for (const std::string after :
       {"{\"step\":20,\"lo", "{\"step\":20", "{\"step\":20}", "nonsense\n{\"step\":20}\n", "\n", "{\"step\":x}\n"}) {
    CAPTURE(after);
    std::ofstream(file, std::ios::trunc) << good << after;
    rewind_lines(file, 100);
    REQUIRE(text_of(file) == good);
  }
}

TEST_CASE("rewind_lines: a file that is not there is left so, one that cannot be changed is named") {
  test::TemporaryFolder folder;
  rewind_lines(folder / "metrics.jsonl", 10);
  REQUIRE(test::files_in(folder.path()) == 0);
  std::filesystem::create_directory(folder / "metrics.jsonl");
  REQUIRE(test::error_of([&] { rewind_lines(folder / "metrics.jsonl", 10); }).starts_with("7 "));
}
