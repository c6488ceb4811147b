// Real and damaged files that are kept beside the source tree, each with the outcome it must have.

#include <tuple>

#include "core/market/dbn_reader.h"
#include "core/market/definitions.h"
#include "core/market/features.h"
#include "core/market/reader.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

/// The folder, or nothing (and the case is skipped) when it is not there.
bool has_folder(const std::filesystem::path& folder) {
  if (std::filesystem::is_directory(folder)) return true;
  test::skip(folder.string() + " is not there; set FOXHUNT_TEST_DATA");
  return false;
}

struct Outcome {
  std::size_t bars;                // 0: refused
  std::vector<std::string> parts;  // of the error
};

/// Every file of the folder has an outcome here, and has it.
void require_outcomes(const std::filesystem::path& folder, const std::map<std::string, Outcome>& outcomes) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    REQUIRE(outcomes.count(name) == 1);
    const Outcome& outcome = outcomes.at(name);
    if (outcome.bars) {
      const Bars bars = read_bars(entry.path());
      REQUIRE(bars.size() == outcome.bars);
      REQUIRE_NOTHROW(make_tape(bars, contract_for("ES"), {}));
      continue;
    }
    const std::string message = error_of(ExitCode::data, [&] { read_bars(entry.path()); });
    for (const std::string& part : outcome.parts) require_says(message, {name, part});
  }
}

Tape tape_of(const std::filesystem::path& file, const char* symbol) {
  return make_tape(read_bars(file), contract_for(symbol), {});
}

}  // namespace

TEST_CASE("dbn: every damaged or odd file has its outcome") {
  const auto folder = real_data() / "dbn-edge";
  if (!has_folder(folder)) return;
  require_outcomes(folder, {{"bad_magic.dbn", {0, {"byte 0", "\"DBN\""}}},
                            {"bars_quirks.ohlcv-1m.dbn", {5, {}}},
                            {"empty_0_bytes.dbn", {0, {"0 bytes"}}},
                            {"metadata_len_huge.dbn", {0, {"byte 4", "4294967280"}}},
                            {"mixed_mbp10_and_ohlcv.dbn", {2, {}}},
                            {"multi_frame.mbp-10.dbn.zst", {0, {"schema mbp-10", "2 mbp-10", "bars are needed"}}},
                            {"record_length_zero.mbp-10.dbn", {0, {"byte 353", "0 bytes long"}}},
                            {"schema_null_mixed.dbn", {0, {"schema mixed", "2 mbp-10"}}},
                            {"truncated_mid_record.mbp-10.dbn", {0, {"byte 721", "cut short after 268"}}},
                            {"truncated_zstd.mbp-10.dbn.zst", {0, {"byte 336", "cut short"}}},
                            {"ts_out_true.mbp-10.v2.dbn", {0, {"2 mbp-10"}}},
                            {"version_4.dbn", {0, {"byte 3", "version 4"}}}});
}

TEST_CASE("dbn: rows of the odd bars are left out for their reasons") {
  const auto file = real_data() / "dbn-edge" / "bars_quirks.ohlcv-1m.dbn";
  if (!has_folder(file.parent_path())) return;
  REQUIRE(read_bars(file).rejects == std::map<std::string, std::int64_t>{{"undefined price", 1},
                                                                         {"high below low", 1},
                                                                         {"time goes backwards", 1},
                                                                         {"zero price", 1},
                                                                         {"undefined time", 1}});
}

TEST_CASE("dbn: every sample of the reference decoders is read or refused by its kind") {
  const auto folder = real_data() / "dbn-samples";
  if (!has_folder(folder)) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    const auto ends = [&](const char* end) { return name.ends_with(end); };
    const bool empty = name.starts_with("test_data.ohlcv-1d");
    if (ends(".dbz"))
      require_says(error_of(ExitCode::data, [&] { read_bars(entry.path()); }), {name, "DBZ"});
    else if (name.find(".frag") != std::string::npos)
      error_of(ExitCode::data, [&] { read_bars(entry.path()); });
    else if (name.find("ohlcv") != std::string::npos && !empty)
      REQUIRE(read_bars(entry.path()).size() >= 1);
    else if (name.starts_with("py-live"))
      REQUIRE(read_bars(entry.path()).size() == 2);
    else
      require_says(error_of(ExitCode::data, [&] { read_bars(entry.path()); }), {name, "no bar"});
  }
}

TEST_CASE("dbn: real markets have their bars, sessions and rolls") {
  const auto folder = real_data() / "dbn-market";
  if (!has_folder(folder)) return;
  const Tape es = tape_of(folder / "esz3-20131006-14.ohlcv-1m.v3.dbn.zst", "ES");
  CHECK(es.rows() == 8198);
  CHECK(es.session.back() + 1 == 7);
  CHECK(es.bars.symbols.at(100) == "ESZ3");
  CHECK(es.mid[0] == 1'675'250'000'000);

  const Tape euro = tape_of(folder / "6eh4-202401.ohlcv-1m.v3.dbn.zst", "6EH4");
  CHECK(euro.rows() == 29'996);
  CHECK(euro.session.back() + 1 == 23);  // 18 daily breaks and 4 weekends
  CHECK(euro.half_spread[0] == 25'000);

  const Tape spliced = tape_of(folder / "lean-es-front-spliced.ohlcv-1m.v3.dbn.zst", "ES");
  REQUIRE(spliced.rows() == 19'083);
  REQUIRE(spliced.bars.rejects.empty());
  std::vector<std::string> rolls;
  for (std::size_t i = 0; i + 1 < spliced.rows(); ++i)
    if (spliced.flags[i] & roll) rolls.push_back(format_utc(spliced.bars.ts_open[i + 1]).substr(0, 10));
  CHECK(rolls == std::vector<std::string>{"2013-12-18", "2020-01-05"});

  const Bars two = read_bars(folder / "esu4-nqu4.ohlcv-1m.v1.dbn.zst");
  CHECK(two.size() == 30);
  CHECK(two.rejects.at("not the front contract") == 30);
}

TEST_CASE("mbo: the book built from orders is the mbp-10 file beside it, row for row") {
  const auto folder = real_data() / "dbn-market";
  if (!has_folder(folder)) return;
  const Books built = read_books(folder / "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
  const Books given = read_books(folder / "esh4-20231225.mbp-10.v3.dbn.zst");
  REQUIRE(given.rows() == 40'087 - 144);
  REQUIRE(built.rows() == given.rows());
  CHECK(built.ts_event == given.ts_event);
  CHECK(built.ts_recv == given.ts_recv);
  CHECK(built.level == given.level);
  CHECK(built.trade_price == given.trade_price);
  CHECK(built.buy_volume == given.buy_volume);
  CHECK(built.sell_volume == given.sell_volume);
  CHECK(built.volume_of_no_side == given.volume_of_no_side);
  CHECK(built.instrument == given.instrument);
  CHECK(given.rejects == std::map<std::string, std::int64_t>{{"crossed book", 144}});
  CHECK(built.rejects == given.rejects);
}

TEST_CASE("books: real files have their rows") {
  const auto folder = real_data() / "dbn-market";
  if (!has_folder(folder)) return;
  const Books top = read_books(folder / "esu4.mbp-1.v1.dbn.zst");
  CHECK(top.rows() == 2288);
  CHECK(top.levels == 1);
  CHECK(top.rejects.empty());
  CHECK(top.symbols.at(118) == "ESU4");
  const Trades trades = read_trades(folder / "esu4.trades.v1.dbn.zst");
  CHECK(trades.rows() == 120);
  CHECK(std::count(trades.side.begin(), trades.side.end(), 'B') == 66);
}

TEST_CASE("books: every sample of the reference decoders is read or refused by its kind") {
  const auto folder = real_data() / "dbn-samples";
  if (!has_folder(folder)) return;
  int books = 0, trades = 0, definitions = 0, fragments = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    if (name.ends_with(".dbz")) {
      require_says(error_of(ExitCode::data, [&] { market_content_of(entry.path()); }), {name, "DBZ"});
    } else if (name.find(".frag") != std::string::npos) {
      require_says(error_of(ExitCode::data, [&] { market_content_of(entry.path()); }),
                   {name, "fragment", "definition"});
      ++fragments;
    } else if (market_content_of(entry.path()) == MarketContent::trades) {
      CHECK(read_trades(entry.path()).rows() >= 2);
      ++trades;
    } else if (market_content_of(entry.path()) == MarketContent::definitions) {
      CHECK(read_definitions(entry.path()).size() >= 1);
      ++definitions;
    } else if (name.find(".mbp") != std::string::npos || name.find(".tbbo") != std::string::npos) {
      ++books;
      if (name.starts_with("py-IFEU"))  // no level defined in any row
        require_says(error_of(ExitCode::data, [&] { read_books(entry.path()); }), {name, "4 empty book"});
      else
        CHECK(read_books(entry.path()).rows() >= 2);
    }
  }
  CHECK(books == 15);
  CHECK(trades == 5);
  CHECK(definitions == 5);
  CHECK(fragments == 7);
}

TEST_CASE("books: a one-sided market stays, without a mid") {
  const auto folder = real_data() / "dbn-samples";
  if (!has_folder(folder)) return;
  const Books books = read_books(folder / "py-XNAS.ITCH-test_data.mbp-10.dbn.zst");
  REQUIRE(books.rows() == 4);
  CHECK_FALSE(books.two_sided(1));
  CHECK(books.two_sided(2));
}

TEST_CASE("definitions: contracts of the exchange") {
  if (!has_folder(real_data() / "dbn-samples")) return;
  for (const auto& [file, id, symbol] :
       {std::tuple{real_data() / "dbn-market" / "es-fut.definition.dbn.zst", 95'414U, "ESM3"},
        {real_data() / "dbn-samples" / "py-GLBX.MDP3-test_data.definition.dbn.zst", 5482U, "ESH1"}}) {
    const auto definitions = read_definitions(file);
    REQUIRE(definitions.count(id) == 1);
    const InstrumentDefinition& es = definitions.at(id);
    CHECK(es.symbol == symbol);
    CHECK(es.asset == "ES");
    CHECK(es.currency == "USD");
    CHECK(es.tick_size == 250'000'000);
    CHECK(es.multiplier == 50.0);
  }
}

TEST_CASE("csv: every file has its outcome") {
  const auto folder = real_data() / "csv";
  if (!has_folder(folder)) return;
  require_outcomes(folder, {{"6EH4.XCME_1min_bars_20240101_20240131.csv.gz", {29'996, {}}},
                            {"ESZ3_1min_20131006-20131014.csv", {8198, {}}},
                            {"gymanytrading_EURUSD_1H_ASK.csv", {6225, {}}},
                            {"lean_futures_symbol_properties.csv", {0, {"line 1", "'eurex'", "expected a header"}}}});
}

TEST_CASE("csv: a market in CSV and in DBN is the same market") {
  if (!has_folder(real_data() / "csv")) return;
  const Bars text = read_bars(real_data() / "csv" / "ESZ3_1min_20131006-20131014.csv");
  Bars binary = read_bars(real_data() / "dbn-market" / "esz3-20131006-14.ohlcv-1m.v3.dbn.zst");
  binary.instrument = text.instrument;
  REQUIRE(same_bars(text, binary));
}

TEST_CASE("features: real markets give finite tables") {
  const auto folder = real_data() / "dbn-market";
  if (!has_folder(folder)) return;
  for (const auto& [name, symbol] : {std::pair{"esz3-20131006-14.ohlcv-1m.v3.dbn.zst", "ES"},
                                     {"6eh4-202401.ohlcv-1m.v3.dbn.zst", "6E"},
                                     {"lean-es-front-spliced.ohlcv-1m.v3.dbn.zst", "ES"}}) {
    const Tape tape = tape_of(folder / name, symbol);
    const Splits splits = make_splits(tape, 0.7, 0.15, 60, 100);
    const FeatureTable table = make_features(tape, splits.train, 5);
    REQUIRE(all_below(table.values, 5.0001));
  }
}

}  // namespace foxhunt::market
