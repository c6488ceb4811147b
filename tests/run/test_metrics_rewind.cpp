#include "core/run/metrics_rewind.h"

#include "core/run/metrics.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

TEST_CASE("metrics_rewind: lines up to the step stay, and the log goes on after them") {
  test::TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  {
    MetricsLog log(file);
    for (const std::int64_t step : {10, 20, 30, 40}) log.append(step, {{"loss", 0.5}});
  }
  const std::string whole = text_of(file);
  rewind_metrics(file, 40);
  REQUIRE(text_of(file) == whole);
  rewind_metrics(file, 25);
  REQUIRE(text_of(file) == "{\"step\":10,\"loss\":0.5}\n{\"step\":20,\"loss\":0.5}\n");
  {
    MetricsLog log(file);
    for (const std::int64_t step : {30, 40}) log.append(step, {{"loss", 0.5}});
  }
  REQUIRE(text_of(file) == whole);
  rewind_metrics(file, 0);
  REQUIRE(text_of(file).empty());
}

TEST_CASE("metrics_rewind: a line that was cut, or is none of the log's, ends what is kept") {
  test::TemporaryFolder folder;
  const auto file = folder / "metrics.jsonl";
  const std::string good = "{\"step\":10,\"loss\":0.5}\n";
  for (const std::string after :
       {"{\"step\":20,\"lo", "{\"step\":20", "{\"step\":20}", "nonsense\n{\"step\":20}\n", "\n", "{\"step\":x}\n"}) {
    CAPTURE(after);
    std::ofstream(file, std::ios::trunc) << good << after;
    rewind_metrics(file, 100);
    REQUIRE(text_of(file) == good);
  }
}

TEST_CASE("metrics_rewind: a file that is not there is left so, one that cannot be changed is named") {
  test::TemporaryFolder folder;
  rewind_metrics(folder / "metrics.jsonl", 10);
  REQUIRE(test::files_in(folder.path()) == 0);
  std::filesystem::create_directory(folder / "metrics.jsonl");
  REQUIRE(test::error_of([&] { rewind_metrics(folder / "metrics.jsonl", 10); }).starts_with("7 "));
}
