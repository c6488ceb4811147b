// From a market file and a profile to tables: what the profile says of a CSV file, and the cache.
#include <fstream>

#include "core/market/feature_cache.h"
#include "core/market/writer.h"
#include "core/profile/printer.h"
#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

std::string setting(const char* key, const std::filesystem::path& value) {
  return std::string(key) + "=" + profile::toml_text(value.string());
}

market::Bars twelve_sessions() {
  market::SynthOptions options;
  options.sessions = 12;
  return market::synthesize(options);
}

void require_same(const dqn::LoadedMarket& a, const dqn::LoadedMarket& b) {
  REQUIRE(a.features.names == b.features.names);
  REQUIRE(a.features.values == b.features.values);
  REQUIRE(a.tables.table == b.tables.table);
  REQUIRE(a.tables.open_gap == b.tables.open_gap);
  REQUIRE(a.tables.hold_gap == b.tables.hold_gap);
  REQUIRE(a.tables.cost == b.tables.cost);
  REQUIRE(a.tables.flags == b.tables.flags);
  REQUIRE(a.tables.train_starts == b.tables.train_starts);
  REQUIRE(a.tables.typical_move == b.tables.typical_move);
  REQUIRE(a.report() == b.report());
}

}  // namespace

TEST_CASE("market_loader: a profile says how a CSV file is written, and its columns become features") {
  const TemporaryFolder folder;
  const market::Bars bars = twelve_sessions();
  std::ofstream out(folder / "bars.csv");
  out << "when;first;top;bottom;last;Imbalance\n";
  for (std::size_t i = 0; i < bars.size(); ++i)
    out << bars.ts_open[i] / 1'000'000'000 + 60 << ";" << bars.open[i] / 250'000'000 << ";"
        << bars.high[i] / 250'000'000 << ";" << bars.low[i] / 250'000'000 << ";" << bars.close[i] / 250'000'000 << ";"
        << i % 17 << "\n";
  out.close();
  const dqn::LoadedMarket market = dqn::load_market(smoke_profile(
      {setting("data.path", folder / "bars.csv"), "data.csv_time_column=\"when\"", "data.csv_open_column=\"first\"",
       "data.csv_high_column=\"top\"", "data.csv_low_column=\"bottom\"", "data.csv_close_column=\"last\"",
       "data.csv_features=[\"imbalance\"]", "data.csv_time_format=\"epoch_s\"", "data.csv_stamp=\"close\"",
       "data.csv_delimiter=\"semicolon\"", "data.session_gap_minutes=30"}));
  REQUIRE(market.features.names.back() == "imbalance");
  REQUIRE(market.tape.rows() == bars.size());
  REQUIRE(market.tape.ts[0] == bars.ts_open[0] + 60'000'000'000);
  REQUIRE(market.tape.mid[5] == bars.close[5] * 4);
  REQUIRE(market.report().find("note:") == std::string::npos);  // nothing had to be guessed
}

TEST_CASE("market_loader: guesses are in the report") {
  const TemporaryFolder folder;
  const market::Bars bars = twelve_sessions();
  std::ofstream out(folder / "bars.csv");
  out << "time,open,high,low,close\n";
  for (std::size_t i = 0; i < bars.size(); ++i)
    out << bars.ts_open[i] / 1'000'000'000 << "," << bars.open[i] << "e-9," << bars.high[i] << "e-9," << bars.low[i]
        << "e-9," << bars.close[i] << "e-9\n";
  out.close();
  const std::string report = dqn::load_market(smoke_profile({setting("data.path", folder / "bars.csv")})).report();
  INFO(report);
  REQUIRE(report.find("note: times taken as epoch_s") != std::string::npos);
  REQUIRE(report.find("note: times taken as those at which bars open") != std::string::npos);
}

TEST_CASE("market_loader: a market from the cache is the one that was read, until something changes") {
  const TemporaryFolder folder;
  market::SynthOptions options;
  options.sessions = 280;
  options.roll = false;
  const auto file = folder / "bars.dbn", cache = folder / "cache";
  market::write_bars(market::synthesize(options), file);
  const std::vector<std::string> base{setting("data.path", file), setting("data.cache", cache)};
  const auto load = [&](std::vector<std::string> more = {}) {
    more.insert(more.begin(), base.begin(), base.end());
    return dqn::load_market(smoke_profile(more));
  };
  const auto kept = [&] { return std::distance(std::filesystem::directory_iterator(cache), {}); };
  const dqn::LoadedMarket cold = load();
  REQUIRE(cold.tape.rows() >= market::FeatureCache::least_rows);
  REQUIRE(kept() == 1);
  const auto path = std::filesystem::directory_iterator(cache)->path();
  const auto written = std::filesystem::file_size(path);
  require_same(load(), cold);
  require_same(load({"data.cache=\"off\""}), cold);
  REQUIRE(kept() == 1);

  // Settings that shape neither rows nor features share it; those that do, do not.
  load({"contract.slippage_ticks=1", "training.gamma=0.5"});
  REQUIRE(kept() == 1);
  REQUIRE(load({"features.clip=1"}).features.values != cold.features.values);
  REQUIRE(kept() == 2);
  REQUIRE(load({"contract.tick_size=0.5"}).tables.cost != cold.tables.cost);
  REQUIRE(kept() == 3);

  // A damaged file is made again.
  std::filesystem::resize_file(path, written / 2);
  require_same(load(), cold);
  REQUIRE(std::filesystem::file_size(path) == written);

  // Other bytes at the same place are another market.
  options.seed = 2;
  market::write_bars(market::synthesize(options), file);
  REQUIRE(load().features.values != cold.features.values);
  REQUIRE(kept() == 3);
}
