// Prices and times as text.
#include <random>

#include "core/market/decimal.h"
#include "core/market/time_text.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

std::int64_t price_of(const std::string& text) {
  std::int64_t price = 0;
  INFO(text);
  REQUIRE(parse_price(text, price));
  return price;
}

bool is_price(const std::string& text) {
  std::int64_t price = 0;
  return parse_price(text, price);
}

}  // namespace

TEST_CASE("csv: decimal prices are exact") {
  CHECK(price_of("1676.75") == 1'676'750'000'000);
  CHECK(price_of("-37.63") == -37'630'000'000);
  CHECK(price_of("+5") == 5'000'000'000);
  CHECK(price_of(".5") == 500'000'000);
  CHECK(price_of("5.") == 5'000'000'000);
  CHECK(price_of("0.000000001") == 1);
  CHECK(price_of("5e-05") == 50'000);
  CHECK(price_of("1.2E3") == 1'200'000'000'000);
  CHECK(price_of("1.1234500000000001") == 1'123'450'000);  // a float's tail
  CHECK(price_of("0.1999999999999999") == 200'000'000);
  CHECK(price_of("0.00000000049") == 0);
  CHECK(price_of("0.0000000005") == 1);
  CHECK(price_of("0.00000000005") == 0);
  CHECK(price_of("-0.0000000005") == -1);
  CHECK(price_of("0e999") == 0);
  CHECK(price_of("9223372036.854775807") == INT64_MAX);
  for (const char* text : {"", "-", ".", "1.2.3", "1,5", "abc", "1x", "1e", "1ee5", "1e5000", "e5", "--1",
                           "9223372036.854775808", "9223372036.8547758075", "1e10", "0x10", "inf"}) {
    INFO(text);
    CHECK_FALSE(is_price(text));
  }
}

TEST_CASE("csv: every price is printed so that it reads back") {
  CHECK(format_price(1'676'750'000'000) == "1676.75");
  CHECK(format_price(-1) == "-0.000000001");
  CHECK(format_price(0) == "0");
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t price = static_cast<std::int64_t>(random()) >> (random() % 60);
    if (price == INT64_MIN) continue;
    REQUIRE(price_of(format_price(price)) == price);
  }
}

TEST_CASE("csv: times that are none are refused") {
  for (const char* text : {"",
                           "x",
                           "2024",
                           "2024-1-08",
                           "2024-02-30",
                           "2024-01-08T",
                           "2024-01-08 24:00",
                           "2024-01-08 00:60",
                           "2024-01-08 00:00:60",
                           "2024-01-08 00:00:00.",
                           "2024-01-08 00:00:00+",
                           "2024-01-08 00:00:00+25:00",
                           "2024-01-08 00:00:00Zz",
                           "2024-01/08",
                           "32.01.2024",
                           "8.1.2024",
                           "9999-01-01",
                           "0001-01-01",
                           "2200-01-01",
                           "99999999999999999999",
                           "1.5",
                           "12345678",
                           "-5"}) {
    INFO(text);
    CHECK_FALSE(time_format_of(text));
  }
}

TEST_CASE("csv: times before 1970 and after a leap day") {
  CHECK(parse_time("1969-12-31 23:59:59", TimeFormat::iso)->ns == -ns_per_second);
  CHECK(parse_time("-1.5", TimeFormat::epoch_s)->ns == -1'500'000'000);
  CHECK(parse_time("2024-02-29", TimeFormat::iso)->ns + ns_per_day == parse_time("2024-03-01", TimeFormat::iso)->ns);
  CHECK(format_utc(-ns_per_second) == "1969-12-31 23:59:59");
  CHECK(format_utc(monday + 5) == "2024-01-08 00:00:00.000000005");
  CHECK(utc_day(-1) == -1);
  CHECK(weekday(utc_day(monday)) == 0);
  CHECK(weekday(utc_day(monday - 1)) == 6);
  CHECK(yyyymmdd(utc_day(monday)) == 20240108);
}

}  // namespace foxhunt::market
