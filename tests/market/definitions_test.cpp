#include "core/market/definitions.h"

#include "tests/market/dbn_bytes.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

struct Places {
  std::size_t size, multiplier, currency, symbol, asset;
};
const Places places[] = {{360, 88, 186, 200, 248}, {400, 88, 186, 200, 297}, {520, 80, 224, 238, 335}};

template <class T>
void set(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A definition of an ES contract, in the record of a version.
std::string definition(std::uint8_t version, std::uint32_t id, const std::string& symbol, std::int64_t tick,
                       std::int64_t multiplier) {
  const Places& at = places[version - 1];
  std::string bytes = dbn_record_bytes(0x13, static_cast<std::uint8_t>(at.size / 4));
  set(bytes, 4, id), set(bytes, 24, tick), set(bytes, 40, monday), set(bytes, at.multiplier, multiplier);
  bytes.replace(at.currency, 3, "USD"), bytes.replace(at.symbol, symbol.size(), symbol);
  bytes.replace(at.asset, 2, "ES");
  return bytes;
}

std::map<std::uint32_t, InstrumentDefinition> read(const std::string& bytes) {
  const test::TemporaryFolder folder;
  write_text(folder / "a.dbn", bytes);
  return read_definitions(folder / "a.dbn");
}

}  // namespace

TEST_CASE("definitions: every version's record is read, the last of an instrument holds") {
  for (const std::uint8_t version : {1, 2, 3}) {
    const auto all = read(dbn_metadata_bytes({version, 9, false}) + definition(version, 7, "ESZ3", 1, point) +
                          definition(version, 7, "ESZ3", point / 4, 50 * point) +
                          definition(version, 8, "ESH4", INT64_MAX, INT64_MAX));
    REQUIRE(all.size() == 2);
    const InstrumentDefinition& december = all.at(7);
    CHECK(december.symbol == "ESZ3");
    CHECK(december.asset == "ES");
    CHECK(december.currency == "USD");
    CHECK(december.tick_size == point / 4);
    CHECK(december.multiplier == 50.0);
    CHECK(december.expiration == monday);
    const Contract contract = contract_of(december);
    CHECK(contract.symbol == "ES");
    CHECK(contract.tick_size == point / 4);
    CHECK(contract.multiplier == 50.0);
    CHECK(contract.commission == contract_for("ES").commission);
    CHECK_FALSE(all.at(8).tick_size);
    CHECK(contract_of(all.at(8)).multiplier == 50.0);  // not defined: from the built-in table
  }
}

TEST_CASE("definitions: what is defined goes before the built-in table") {
  InstrumentDefinition odd;
  odd.symbol = "ESZ3", odd.tick_size = point, odd.multiplier = 3;
  CHECK(contract_of(odd).symbol == "ES");
  CHECK(contract_of(odd).tick_size == point);
  CHECK(contract_of(odd).multiplier == 3.0);
}

TEST_CASE("definitions: a file without one, and a record of no version's length, are named") {
  const auto refused = [](const std::string& bytes) { return error_of(ExitCode::data, [&] { read(bytes); }); };
  require_says(refused(dbn_file({minute_bar(0, 1, 2)})), {"no definition", "schema ohlcv-1m", "1 ohlcv-1m"});
  require_says(refused(dbn_metadata_bytes({3, 9, false}) + dbn_record_bytes(0x13, 89)),
               {"byte ", "definition of 356 bytes", "360, 400 or 520"});
}

}  // namespace foxhunt::market
