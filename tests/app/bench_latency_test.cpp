// The benchmark of the live path, through the program.
#include <sched.h>

#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt;

TEST_CASE("app: bench latency times both forms of the live path, having compared their answers") {
  const test::Outcome outcome =
      test::run_program({"bench", "latency", "--device", "host", "--snapshots", "20", "--hidden", "8", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  const auto report = nlohmann::json::parse(outcome.out);
  REQUIRE(report["hidden"] == 8);
  REQUIRE(report["processor"] == "any");
  REQUIRE(report["forms"].size() == 2);
  REQUIRE(report["forms"][0]["form"] == "Graph A");
  REQUIRE(report["forms"][1]["form"] == "resident");
  for (const auto& form : report["forms"]) {
    REQUIRE(form["snapshots"] == 20);
    double last = 0.0;
    const auto& unpaused = form["unpaused"];
    const bool some = unpaused["snapshots"] > 0;
    REQUIRE(unpaused["snapshots"] <= 20);
    for (const char* quantile : {"p50_us", "p99_us", "p999_us", "max_us"}) {
      REQUIRE(form[quantile].get<double>() >= last);
      last = form[quantile].get<double>();
      REQUIRE(unpaused[quantile].is_null() == !some);
    }
    REQUIRE(last > 0.0);
    if (some) REQUIRE(unpaused["max_us"].get<double>() <= last);
  }
  const auto& pauses = report["host_pauses"];
  REQUIRE(pauses["a_second"].get<double>() >= 0.0);
  REQUIRE(((pauses["a_second"] == 0.0) == (pauses["median_us"] == 0.0)));
  test::require_refusal({"bench", "latency", "--hidden", "129"}, 2, {"--hidden", "129"});
}

TEST_CASE("app: bench latency stays on the processor that it is told, and refuses one that is not there") {
  const auto with = [](const std::string& processor) {
    return std::vector<std::string>{"bench", "latency",  "--device", "host",        "--snapshots",
                                    "20",    "--hidden", "8",        "--processor", processor};
  };
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &allowed)) --last;
  std::vector<std::string> arguments = with(std::to_string(last));
  arguments.push_back("--json");
  const test::Outcome stayed = test::run_program(arguments);
  INFO(stayed.err);
  REQUIRE(nlohmann::json::parse(stayed.out)["processor"] == std::to_string(last));
  for (const char* wrong : {"-1", "1000000", "0x", "", "fastest"})
    test::require_refusal(with(wrong), 2, {"--processor", "quickest, any"});
}
