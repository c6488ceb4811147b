#include "core/market/contract.h"

#include "tests/market/market_test.h"

namespace foxhunt::market {

TEST_CASE("contract: ticks and multipliers are the exchange's") {
  const auto check = [](const char* symbol, std::int64_t tick, double multiplier) {
    const Contract contract = contract_for(symbol);
    INFO(symbol);
    CHECK(contract.symbol == symbol);
    CHECK(contract.tick_size == tick);
    CHECK(contract.multiplier == multiplier);
    CHECK(contract.commission > 0.5);
    CHECK(contract.commission < 3);
  };
  check("ES", 250'000'000, 50);  // one point is $50
  check("MES", 250'000'000, 5);
  check("NQ", 250'000'000, 20);
  check("CL", 10'000'000, 1000);
  check("GC", 100'000'000, 100);
  check("6E", 50'000, 125'000);
}

TEST_CASE("contract: dated and continuous symbols find their root") {
  CHECK(contract_for("ESZ3").symbol == "ES");
  CHECK(contract_for("ESH24").symbol == "ES");
  CHECK(contract_for("MESM4").symbol == "MES");
  CHECK(contract_for("6EH4").symbol == "6E");
  CHECK(contract_for("ES.FUT").symbol == "ES");
  CHECK(contract_for("ES.c.0").symbol == "ES");
  CHECK(contract_for("CLK0").multiplier == 1000);
}

TEST_CASE("contract: an unknown symbol gives the default under its own name") {
  for (const char* symbol : {"", "ZZZ", "ESZ3-ESH4", "ESZ", "ESA3", "ES2024", "Z3", "H4", "es"}) {
    const Contract contract = contract_for(symbol);
    INFO(symbol);
    CHECK(contract.symbol == symbol);
    CHECK(contract.tick_size == 10'000'000);
    CHECK(contract.multiplier == 1);
    CHECK(contract.commission == 0);
  }
}

}  // namespace foxhunt::market
