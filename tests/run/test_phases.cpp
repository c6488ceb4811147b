#include "core/run/phases.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/run/json.h"
#include "tests/catch.h"

using namespace foxhunt::run;

TEST_CASE("phases: counts and totals by name, in the order of first use") {
  PhaseTimer timer;
  timer.add("train", 2.0);
  timer.add("evaluate", 1.0);
  timer.add("train", 3.0);
  REQUIRE(timer.phases().size() == 2);
  REQUIRE(timer.phases()[0].name == "train");
  REQUIRE(timer.phases()[0].count == 2);
  REQUIRE(timer.phases()[0].seconds == 5.0);
  REQUIRE(timer.to_json().dump() == R"({"train":{"count":2,"seconds":5.0},"evaluate":{"count":1,"seconds":1.0}})");
}

TEST_CASE("phases: a scope counts once, also when it is left by an exception") {
  PhaseTimer timer;
  { const auto scope = timer.scope("load"); }
  try {
    const auto scope = timer.scope("load");
    throw std::runtime_error("stop");
  } catch (const std::runtime_error&) {}
  REQUIRE(timer.phases().size() == 1);
  REQUIRE(timer.phases()[0].count == 2);
  REQUIRE(timer.phases()[0].seconds >= 0.0);
  REQUIRE(timer.elapsed() >= timer.phases()[0].seconds);
}

TEST_CASE("phases: the table's shares add up, the rest included") {
  PhaseTimer timer;
  timer.add("train", 6.0);
  timer.add("checkpoint", 1.5);
  REQUIRE(timer.table(10.0) ==
          "phase            count     seconds   share\n"
          "train                1       6.000   60.0%\n"
          "checkpoint           1       1.500   15.0%\n"
          "(other)                      2.500   25.0%\n"
          "total                       10.000\n");
  REQUIRE(PhaseTimer().table(0.0).find("nan") == std::string::npos);
}

TEST_CASE("phases: a check list passes when every check does, and not when there is none") {
  CheckList list;
  REQUIRE_FALSE(list.all_passed());
  list.add("loss is finite", true, "0.25", 0.25);
  REQUIRE(list.all_passed());
  list.add("action entropy", false, "NaN, expected at least 0.3 nats", std::numeric_limits<double>::quiet_NaN());
  list.add("checkpoint loads", true, "");
  REQUIRE_FALSE(list.all_passed());
  REQUIRE(list.table() ==
          "PASS  loss is finite    0.25\n"
          "FAIL  action entropy    NaN, expected at least 0.3 nats\n"
          "PASS  checkpoint loads  \n");
  REQUIRE(json_text(list.to_json()) ==
          R"([{"name":"loss is finite","passed":true,"detail":"0.25","value":0.25},)"
          R"({"name":"action entropy","passed":false,"detail":"NaN, expected at least 0.3 nats","value":"NaN"},)"
          R"({"name":"checkpoint loads","passed":true,"detail":"","value":null}])");
}
