#include "core/run/metrics.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/run/json.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

namespace {
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
}

TEST_CASE("metrics: one JSON object a line, step first, the rest in order") {
  test::TemporaryFolder folder;
  MetricsLog log(folder / "metrics.jsonl");
  log.append(10, {{"z_loss", 0.1}, {"a_epsilon", -2.0}});
  log.append(20, {{"z_loss", 1e-300}, {"a_epsilon", 3}});
  REQUIRE(text_of(folder / "metrics.jsonl") ==
          "{\"step\":10,\"z_loss\":0.1,\"a_epsilon\":-2.0}\n{\"step\":20,\"z_loss\":1e-300,\"a_epsilon\":3.0}\n");
}

TEST_CASE("metrics: non-finite values stay visible and the line stays JSON") {
  test::TemporaryFolder folder;
  MetricsLog log(folder / "metrics.jsonl");
  log.append(1, {{"loss", kNaN}, {"up", kInfinity}, {"down", -kInfinity}, {"na\"me\xFF", 1}});
  const auto line = nlohmann::json::parse(text_of(folder / "metrics.jsonl"));
  REQUIRE(line["loss"] == "NaN");
  REQUIRE(line["up"] == "Infinity");
  REQUIRE(line["down"] == "-Infinity");
  REQUIRE(line.size() == 5);
}

TEST_CASE("metrics: non-finite numbers at any depth of a JSON value are named") {
  REQUIRE(json_text({{"a", {1.5, kNaN}}, {"b", {{"c", -kInfinity}}}, {"d", 7}}) ==
          R"({"a":[1.5,"NaN"],"b":{"c":"-Infinity"},"d":7})");
}

TEST_CASE("metrics: a line is in the file when append returns") {
  test::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    MetricsLog log(folder / "metrics.jsonl");
    log.append(1, {{"loss", 1}});
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  REQUIRE(text_of(folder / "metrics.jsonl") == "{\"step\":1,\"loss\":1.0}\n");
}

TEST_CASE("metrics: a file with half a last line is continued after its last whole line") {
  test::TemporaryFolder folder;
  const std::string whole = "{\"step\":1}\n", half = "{\"step\":2,\"note\":\"" + std::string(10'000, 'x');
  std::ofstream(folder / "cut") << whole << half;
  MetricsLog(folder / "cut").append(2, {});
  REQUIRE(text_of(folder / "cut") == whole + "{\"step\":2}\n");
  MetricsLog(folder / "cut").append(3, {});
  REQUIRE(text_of(folder / "cut") == whole + "{\"step\":2}\n{\"step\":3}\n");

  std::ofstream(folder / "no line") << half;
  MetricsLog(folder / "no line").append(1, {});
  REQUIRE(text_of(folder / "no line") == "{\"step\":1}\n");
}

TEST_CASE("metrics: a full disk is an error and leaves whole lines") {
  test::TemporaryFolder folder, scratch;
  const std::string error = test::error_with_file_limit(scratch / "result", 1000, [&] {
    MetricsLog log(folder / "metrics.jsonl");
    for (int step = 0; step < 100; ++step) log.append(step, {{"loss", 0.5}});
  });
  REQUIRE(error.starts_with("7 cannot append to " + (folder / "metrics.jsonl").string()));
  const std::string text = text_of(folder / "metrics.jsonl");
  REQUIRE(text.size() <= 1000);
  REQUIRE(text.ends_with("0.5}\n"));

  MetricsLog full("/dev/full");
  REQUIRE(test::error_of([&] { full.append(1, {}); }).find("No space left on device") != std::string::npos);
}

TEST_CASE("metrics: a file that cannot be opened is named") {
  REQUIRE(test::error_of([] {
            MetricsLog("/no/such/folder/metrics.jsonl");
          }).starts_with("7 cannot open /no/such/folder/metrics.jsonl: No such file or directory"));
}
