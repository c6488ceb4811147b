// Episodes end where a session, a contract or the data do, and nothing that happens beyond is booked.
#include <fstream>

#include "core/market/session_calendar.h"
#include "core/profile/printer.h"
#include "core/profile/schema.h"
#include "tests/dqn/scripted_run.h"
#include "tests/market/session_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using market::utc;

namespace {

constexpr double points = 1e9;

/// Minutes of one price and one contract.
struct SessionAt {
  const char *from, *to;
  std::int64_t price;  ///< 1e-2 points
  std::uint32_t instrument;
};

dqn::LoadedMarket market_of(const std::vector<SessionAt>& sessions, std::vector<std::string> overrides = {}) {
  market::Bars bars;
  for (const auto& [from, to, price, instrument] : sessions) {
    const std::size_t first = bars.size();
    market::trade(bars, from, to, 1, instrument);
    for (auto* column : {&bars.open, &bars.high, &bars.low, &bars.close})
      std::fill(column->begin() + static_cast<std::ptrdiff_t>(first), column->end(), price * market::price_scale / 100);
  }
  bars.symbols = {{1, "ESZ3"}, {2, "ESH4"}};
  overrides.insert(overrides.begin(),
                   {"data.purge_rows=0", "training.gpu_timesteps_per_episode=10", "training.min_replay_size=64",
                    "data.train_fraction=0.4", "data.validation_fraction=0.3"});
  return dqn::make_market(std::move(bars), smoke_profile(overrides));
}

/// No lane, and no step between two of its rows, crosses a session, a contract or a hole.
void require_lanes_within_sessions(const dqn::LoadedMarket& m) {
  for (const std::int32_t start : EveryLane(m).starts) {
    const std::size_t last = end_of_lane(m, start);
    for (auto i = static_cast<std::size_t>(start); i < last; ++i) {
      REQUIRE(m.tape.session[i] == m.tape.session[i + 1]);
      REQUIRE(m.tape.instrument[i] == m.tape.instrument[i + 1]);
      REQUIRE(m.tape.ts[i + 1] - m.tape.ts[i] <= 31 * market::ns_per_minute);
    }
    REQUIRE(m.tables.open_gap[last] == 0);
    REQUIRE(m.tables.hold_gap[last] == 0);
  }
}

/// What a long contract held through every lane made, dollars before costs.
double gross_of_long(const std::string& device, const dqn::LoadedMarket& m) {
  const auto [starts, longest] = EveryLane(m);
  const ScriptedRun run = run_scripted(device, m, starts, longest + 3, 2);
  double gross = 0;
  for (const Episode& episode : run.state) {
    REQUIRE(episode.position == 0.0f);
    REQUIRE(episode.trades == 2);
    gross += episode.gross;
  }
  return gross;
}

}  // namespace

TEST_CASE("env: a long contract held through a roll neither gains nor loses the basis") {
  // Flat prices, and the next contract 6.25 points lower from one minute to the next.
  const dqn::LoadedMarket m = market_of({{"2013-12-18 15:00", "2013-12-18 15:40", 180000, 1},
                                         {"2013-12-18 15:40", "2013-12-18 16:20", 179375, 2},
                                         {"2013-12-19 15:00", "2013-12-19 15:40", 179375, 2},
                                         {"2013-12-20 15:00", "2013-12-20 15:40", 179375, 2}});
  REQUIRE((m.tape.flags[39] & market::roll));
  require_lanes_within_sessions(m);
  for (const std::string& device : present_devices()) REQUIRE(gross_of_long(device, m) == 0.0);
}

TEST_CASE("env: a long contract held through the rolls and holes of a real market makes what its sessions made") {
  const auto file = market::real_data() / "dbn-market" / "lean-es-front-spliced.ohlcv-1m.v3.dbn.zst";
  if (!std::filesystem::exists(file)) return skip(file.string() + " is not there; set FOXHUNT_TEST_DATA");
  const dqn::LoadedMarket m = dqn::load_market(smoke_profile({"data.path=" + profile::toml_text(file.string())}));
  require_lanes_within_sessions(m);
  std::vector<std::size_t> rolls;
  for (std::size_t i = 0; i < m.tape.rows(); ++i)
    if (m.tape.flags[i] & market::roll) rolls.push_back(i);
  REQUIRE(rolls.size() == 2);
  REQUIRE(market::format_utc(m.tape.ts[rolls[0] + 1]) == "2013-12-18 00:01:00");
  // December's contract was last seen at 1792, March's begins at 1773.75: basis and two weeks that are missing.
  REQUIRE(m.tape.mid[rolls[0]] - m.tape.mid[rolls[0] + 1] == 18'250'000'000);
  double made = 0;
  for (const std::int32_t start : EveryLane(m).starts)
    made += 50 *
            static_cast<double>(m.tape.mid[end_of_lane(m, start)] - m.tape.fill_mid[static_cast<std::size_t>(start)]) /
            points;
  for (const std::string& device : present_devices()) REQUIRE(gross_of_long(device, m) == Approx(made).margin(0.01));
}

TEST_CASE("env: episodes cross neither a hole of years nor a trading date, but do cross missing minutes") {
  const dqn::LoadedMarket m = market_of({{"2013-12-20 15:00", "2013-12-20 15:20", 180000, 1},
                                         {"2013-12-20 15:40", "2013-12-20 15:50", 181000, 1},  // 20 minutes missing
                                         {"2020-01-06 15:00", "2020-01-06 15:40", 320000, 1},  // years
                                         {"2020-01-06 22:40", "2020-01-06 23:20", 330000, 1},  // over 17:00 in Chicago
                                         {"2020-01-07 15:00", "2020-01-07 15:40", 340000, 1}});
  require_lanes_within_sessions(m);
  const std::vector<std::int32_t> starts = EveryLane(m).starts;
  std::vector<std::string> opens;
  for (const std::int32_t start : starts)
    opens.push_back(market::format_utc(m.tape.ts[static_cast<std::size_t>(start)] - market::ns_per_minute));
  REQUIRE(opens == std::vector<std::string>{"2013-12-20 15:00:00", "2020-01-06 15:00:00", "2020-01-06 22:40:00",
                                            "2020-01-06 23:00:00", "2020-01-07 15:00:00"});
  // Of all the jumps only the ten points over the missing minutes are anyone's.
  for (const std::string& device : present_devices()) REQUIRE(gross_of_long(device, m) == Approx(500));
}

TEST_CASE("market_loader: sessions follow data.calendar") {
  const std::vector<SessionAt> through{{"2024-01-08 22:00", "2024-01-09 00:00", 500000, 2},
                                       {"2024-01-09 15:00", "2024-01-09 15:40", 500000, 2},
                                       {"2024-01-10 15:00", "2024-01-10 15:40", 500000, 2}};
  const dqn::LoadedMarket own = market_of(through);
  REQUIRE(own.tape.calendar == "cme-equity-index");
  REQUIRE(own.tape.session.back() == 3);
  REQUIRE(own.report().find("60 of 200 rows lie outside the hours") != std::string::npos);
  const dqn::LoadedMarket none = market_of(through, {"data.calendar=\"none\""});
  REQUIRE(none.tape.session.back() == 2);
  REQUIRE(none.report().find("note:") == std::string::npos);
  const profile::Key* key = profile::find_key("data.calendar");
  std::vector<std::string> known{"auto"};
  known.insert(known.end(), market::calendar_names().begin(), market::calendar_names().end());
  REQUIRE(key->limits.words == known);
}

TEST_CASE("market_loader: bars are put into longer ones, with features of longer ones yet") {
  market::SynthOptions options;
  options.sessions = 12;
  const market::Bars bars = market::synthesize(options);
  const dqn::LoadedMarket m =
      dqn::make_market(bars, smoke_profile({"data.resample_minutes=5", "features.timeframes=[15, 60]",
                                            "data.purge_rows=10", "training.gpu_timesteps_per_episode=30"}));
  REQUIRE(m.tape.rows() > bars.size() / 6);
  REQUIRE(m.tape.rows() < bars.size() / 4);
  REQUIRE(m.features.names[56] == "return_15m");
  REQUIRE(m.features.width() == 66);
  REQUIRE(m.report().find("bars of 5 minutes") != std::string::npos);
  std::int64_t odd = 0;
  for (std::size_t i = 0; i < m.tape.rows(); ++i)
    odd += m.tape.ts[i] % (5 * market::ns_per_minute) != 0 && !(m.tape.flags[i] & market::last_of_session);
  REQUIRE(odd == 0);
}

TEST_CASE("market_loader: books are not put into bars") {
  const TemporaryFolder folder;
  std::ofstream(folder / "books.csv") << "ts_recv,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00\n"
                                         "1704700000000000000,100,101,1,1\n1704700001000000000,100,101,1,1\n";
  const auto load = [&] {
    dqn::load_market(
        smoke_profile({"data.path=" + profile::toml_text((folder / "books.csv").string()), "data.resample_minutes=5"}));
  };
  market::require_says(market::error_of(ExitCode::usage, load),
                       {"data.resample_minutes = 5", "books.csv", "holds books"});
}
