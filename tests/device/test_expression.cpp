#include "core/device/expression.h"

#include "core/error.h"
#include "tests/catch.h"

using namespace foxhunt;

TEST_CASE("expression: arithmetic, with division rounding up") {
  const IntegerArguments given = {{"n", 130}, {"m", 7}, {"splits", 3}, {"stride", 100}, {"zero", 0}};
  const std::pair<const char*, std::int64_t> cases[] = {
      {"1", 1},        {"n", 130},     {"n/64", 3},          {"128/64", 2},
      {"m/64", 1},     {"zero/64", 0}, {"n-m-1", 122},       {"2+3*4", 14},
      {"(2+3)*4", 20}, {"n/64*2", 6},  {"(m/64)*(n/64)", 3}, {"(splits-1)*stride+(m+1)*n", 1240},
      {"m*n/1024", 1}};
  for (const auto& [text, value] : cases) {
    CAPTURE(text);
    REQUIRE(evaluate(text, given) == value);
  }
}

TEST_CASE("expression: products beyond 32 bits") {
  REQUIRE(evaluate("a*b", {{"a", 3'000'000'000}, {"b", 2}}) == 6'000'000'000);
  REQUIRE(evaluate("a*a", {{"a", 100'000}}) == 10'000'000'000);
}

TEST_CASE("expression: what cannot be evaluated is refused with its text") {
  for (const char* text : {"", "n+", "(n", "n)", "n n", "unknown", "n//2", "n/zero", "n$2", "*n"}) {
    CAPTURE(text);
    try {
      evaluate(text, {{"n", 5}, {"zero", 0}});
      FAIL("accepted");
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::device);
      REQUIRE(std::string(error.what()).find("\"" + std::string(text) + "\"") != std::string::npos);
    }
  }
}
