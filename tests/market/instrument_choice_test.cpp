#include "core/market/instrument_choice.h"

#include <random>

#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

struct Rows {
  std::vector<std::int64_t> ts;
  std::vector<std::uint32_t> instrument;
  std::vector<std::uint64_t> volume;
  std::map<std::uint32_t, std::string> symbols;

  void add(std::int64_t day, std::int64_t minute, std::uint32_t id, std::uint64_t traded) {
    ts.push_back(monday + day * ns_per_day + minute * ns_per_minute);
    instrument.push_back(id), volume.push_back(traded);
  }
  /// Instruments of the rows that stay.
  std::vector<std::uint32_t> kept() const {
    const auto keep = front_rows({ts, instrument, [this](std::size_t row) { return volume[row]; }, symbols});
    std::vector<std::uint32_t> fronts;
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) fronts.push_back(instrument[i]);
    return fronts;
  }
};

using Ids = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("front contract: symbols of outright futures have a root") {
  CHECK(future_root("ESZ3") == "ES");
  CHECK(future_root("6EH24") == "6E");
  for (const char* symbol : {"", "ES", "Z3", "ESA3", "ESZ", "ESZ123", "ESH4-ESM4", "ES.c.0", "AAPL", "UD:1V: GN Z4"})
    CHECK(future_root(symbol) == "");
}

TEST_CASE("front contract: an instrument goes by its id, symbol, parent and root") {
  for (const char* name : {"", "17", "ESZ3", "ES.FUT", "ES"}) CHECK(names_instrument(name, 17, "ESZ3"));
  for (const char* name : {"1", "ESZ", "E", "ES.OPT", "NQ", "ESH4"}) CHECK_FALSE(names_instrument(name, 17, "ESZ3"));
  CHECK(names_instrument("ES.c.0", 17, "ES.c.0"));
  CHECK_FALSE(names_instrument("ES", 17, "ESH4-ESM4"));
  CHECK_FALSE(names_instrument("ES", 17, ""));
}

TEST_CASE("front contract: each day's is what traded most the day before, the first day's by its first minute") {
  Rows rows;
  // Of instrument 1 more trades in the first minute, of 2 over each day from the first on.
  for (std::int64_t day = 0; day < 3; ++day)
    for (std::int64_t minute = 0; minute < 3; ++minute) {
      rows.add(day, minute, 2, minute == 0 ? 5 : 50);
      rows.add(day, minute, 1, minute == 0 ? 7 : 1);
    }
  REQUIRE(rows.kept() == Ids{1, 1, 1, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("front contract: volumes of earlier days count no more") {
  Rows rows;
  rows.add(0, 0, 1, 1000), rows.add(0, 0, 2, 1);
  rows.add(1, 0, 1, 1), rows.add(1, 0, 2, 10);
  rows.add(4, 0, 1, 1), rows.add(4, 0, 2, 1);  // after days without a row
  REQUIRE(rows.kept() == Ids{1, 1, 2});
}

TEST_CASE("front contract: one that starts after the front's last row follows it at once, others the next day") {
  Rows rows;
  for (std::int64_t i = 0; i < 6; ++i) rows.add(0, i, static_cast<std::uint32_t>(i / 2), 1);
  REQUIRE(rows.kept() == Ids{0, 0, 1, 1, 2, 2});
  rows = {};
  for (std::int64_t minute = 0; minute < 3; ++minute) rows.add(0, minute, 1, 100), rows.add(0, minute, 2, 3);
  rows.add(0, 3, 2, 5);  // instrument 1 is over, but 2 was there beside it
  rows.add(1, 0, 2, 5);
  REQUIRE(rows.kept() == Ids{1, 1, 1, 2});
}

TEST_CASE("front contract: it is an outright future, and stays one of its root") {
  Rows rows;
  rows.symbols = {{1, "ESH4"}, {2, "ESH4-ESM4"}, {3, "NQH4"}, {4, "ESM4"}};
  for (std::int64_t day = 0; day < 2; ++day)
    for (const std::uint32_t id : {2, 3, 1, 4}) rows.add(day, 0, id, id == 1 ? 20 : id == 4 ? 10 : 1);
  rows.add(2, 0, 4, 1), rows.add(2, 0, 3, 1), rows.add(2, 0, 2, 1);
  REQUIRE(rows.kept() == Ids{1, 1, 4});
  for (auto& traded : rows.volume) traded = 0;  // nothing traded at all: as many rows each
  REQUIRE(rows.kept() == Ids{1, 1, 4});
}

TEST_CASE("front contract: a choice does not see what comes after it") {
  std::mt19937_64 random(test::seed());
  for (int trial = 0; trial < 200; ++trial) {
    Rows rows;
    for (std::int64_t day = 0; day < 6; ++day)
      for (std::int64_t minute = 0; minute < 10; ++minute)
        for (const std::uint32_t id : {1, 2, 3}) rows.add(day, minute, id, random() % 100);
    const std::int64_t cut = monday + static_cast<std::int64_t>(1 + random() % 5) * ns_per_day;
    Rows other = rows;
    for (std::size_t i = 0; i < other.ts.size(); ++i)
      if (other.ts[i] >= cut) other.volume[i] = random() % 100'000;
    // Choices up to and on the day of the cut are the same: that day's was made at its start.
    const auto days = static_cast<std::size_t>((cut - monday) / ns_per_day + 1);
    Ids first = rows.kept(), second = other.kept();
    first.resize(10 * days), second.resize(10 * days);
    REQUIRE(first == second);
  }
}

}  // namespace foxhunt::market
