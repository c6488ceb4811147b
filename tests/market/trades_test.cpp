#include "tests/market/book_fixture.h"

namespace foxhunt::market {
namespace {

Trades trades_of(const std::string& bytes, const ReadOptions& options = {}) {
  const test::TemporaryFolder folder;
  write_text(folder / "trades.dbn", bytes);
  return read_trades(folder / "trades.dbn", options);
}

std::string trade(std::int64_t seconds, char side, std::int64_t price, std::uint32_t size, std::uint32_t id = 1) {
  return dbn_mbp_bytes(trade_at(seconds, side, price, size, id), {});
}

}  // namespace

TEST_CASE("trades: columns of schema trades") {
  const Trades trades = trades_of(dbn_metadata_bytes({1, 4, false}) + trade(0, 'B', 100, 3) + trade(0, 'A', -99, 4) +
                                  trade(2, 'N', 0, 5));
  REQUIRE(trades.rows() == 3);
  CHECK(trades.ts_event == Column<std::int64_t>{monday, monday, monday + 2 * ns_per_second});
  CHECK(trades.ts_recv[2] == monday + 2 * ns_per_second + 5);
  CHECK(trades.price == Column<std::int64_t>{100 * point, -99 * point, 0});
  CHECK(trades.size == Column<std::uint32_t>{3, 4, 5});
  CHECK(trades.side == Column<char>{'B', 'A', 'N'});
  CHECK(trades.symbols.at(1) == "ESH1");
  CHECK(trades.rejects.empty());
}

TEST_CASE("trades: rows that cannot be true are left out and counted") {
  Event priceless = trade_at(1, 'B', 1, 1);
  priceless.price = no_price;
  Event timeless = trade_at(0, 'B', 1, 1);
  timeless.ts = -20;
  Event wild = trade_at(1, 'B', 1, 1);
  wild.price = -largest_price - 1;
  const Trades trades =
      trades_of(dbn_metadata_bytes({3, 4, false}) + trade(5, 'B', 100, 3) + dbn_mbp_bytes(priceless, {}) +
                trade(6, 'B', 100, 0) + trade(4, 'B', 100, 1) + dbn_mbp_bytes(timeless, {}) + dbn_mbp_bytes(wild, {}) +
                dbn_record_bytes(0x99, 5) + dbn_record_bytes(0x12, 10));
  REQUIRE(trades.rows() == 1);
  REQUIRE(trades.rejects == std::map<std::string, std::int64_t>{{"undefined price", 1},
                                                                {"price out of range", 1},
                                                                {"zero size", 1},
                                                                {"time goes backwards", 1},
                                                                {"undefined time", 1},
                                                                {"unknown record type", 1},
                                                                {"not a trade", 1}});
}

TEST_CASE("trades: one instrument at a time") {
  const std::string bytes = dbn_metadata_bytes({3, 4, false, {{"ESH4", 1}, {"ESM4", 2}}}) + trade(0, 'B', 100, 3, 1) +
                            trade(1, 'B', 110, 9, 2) + trade(2, 'B', 100, 3, 1);
  REQUIRE(trades_of(bytes).price == Column<std::int64_t>{110 * point});
  ReadOptions options;
  options.instrument = "ESH4";
  REQUIRE(trades_of(bytes, options).size == Column<std::uint32_t>{3, 3});
  options.instrument = "NQ";
  require_says(error_of(ExitCode::data, [&] { trades_of(bytes, options); }), {"\"NQ\"", "ESH4 (1), ESM4 (2)"});
}

TEST_CASE("trades: a file without one says what it holds, one cut short keeps its start where asked to") {
  require_says(error_of(ExitCode::data, [] { trades_of(book_file(1)); }), {"no trade", "schema mbp-10", "1 mbp-10"});
  const std::string bytes = dbn_metadata_bytes({3, 4, false}) + trade(0, 'B', 100, 3) + trade(1, 'B', 100, 3);
  ReadOptions options;
  options.on_damage = DamagePolicy::keep_start;
  const Trades trades = trades_of(bytes.substr(0, bytes.size() - 1), options);
  REQUIRE(trades.rows() == 1);
  REQUIRE(trades.notes.size() == 1);
}

}  // namespace foxhunt::market
