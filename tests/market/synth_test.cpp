#include "core/market/synth.h"

#include <cmath>

#include "core/market/byte_source.h"
#include "core/market/csv_writer.h"
#include "core/market/dbn_writer.h"
#include "core/market/reader.h"
#include "core/market/writer.h"
#include "tests/market/synth_fixture.h"

namespace foxhunt::market {
namespace {

Tape tape_of(const Bars& bars) { return make_tape(bars, contract_for("ES"), {}); }

Bars market(const char* kind, std::optional<double> strength = {}) {
  SynthOptions options;
  options.kind = market_kind(kind);
  options.sessions = 100;
  options.seed = test::seed();
  options.strength = strength;
  return synthesize(options);
}

/// Correlation of the move of the last n rows with that of the next n, within sessions.
double memory_of(const Bars& bars, std::size_t n) {
  const Tape tape = tape_of(bars);
  double both = 0, past = 0, next = 0;
  for (std::size_t i = n; i + n < tape.rows(); ++i) {
    if (tape.session[i - n] != tape.session[i + n]) continue;
    const auto x = static_cast<double>(tape.mid[i] - tape.mid[i - n]),
               y = static_cast<double>(tape.mid[i + n] - tape.mid[i]);
    both += x * y, past += x * x, next += y * y;
  }
  return both / std::sqrt(past * next);
}

double up_share(const Bars& bars) {
  double up = 0, moves = 0;
  for (std::size_t i = 1; i < bars.size(); ++i) {
    up += bars.close[i] > bars.close[i - 1];
    moves += bars.close[i] != bars.close[i - 1];
  }
  return up / moves;
}

/// Correlation of neighbouring changes of five bars within stretches of one regime.
double memory_within(const Bars& bars, std::int64_t offset, std::int64_t parity) {
  Correlation correlation;
  const auto stretch = [&](std::size_t i) { return (static_cast<std::int64_t>(i) + offset) / regime_bars; };
  for (std::size_t i = 5; i + 5 < bars.size(); ++i) {
    if (stretch(i - 5) != stretch(i + 5) || stretch(i) % 2 != parity) continue;
    if (utc_day(bars.ts_open[i - 5]) != utc_day(bars.ts_open[i + 5])) continue;
    correlation.add(static_cast<double>(bars.close[i] - bars.close[i - 5]),
                    static_cast<double>(bars.close[i + 5] - bars.close[i]));
  }
  return correlation.value();
}

}  // namespace

TEST_CASE("synth: the same seed gives the same bars, another seed others") {
  SynthOptions options;
  options.sessions = 5;
  REQUIRE(encode_dbn(synthesize(options)) == encode_dbn(synthesize(options)));
  SynthOptions other = options;
  other.seed = 2;
  REQUIRE(encode_dbn(synthesize(options)) != encode_dbn(synthesize(other)));
}

TEST_CASE("synth: bundled files can be made again") {
  const std::filesystem::path stem = test::source_dir() / "test_data" / "futures-baseline" / "es-baseline.ohlcv-1m";
  const Bars bars = synthesize({});
  const std::string expected = encode_dbn(bars);
  std::string bundled(expected.size() + 1, '\0');
  bundled.resize(ByteSource(stem.string() + ".dbn.zst").read(bundled.data(), bundled.size()));
  REQUIRE(bundled == expected);
  REQUIRE(read_text(stem.string() + ".csv") == encode_csv(bars));
  REQUIRE(std::filesystem::file_size(stem.string() + ".csv") + std::filesystem::file_size(stem.string() + ".dbn.zst") <
          2'000'000);
}

TEST_CASE("synth: thirty days of ES-like minutes with holes and a roll") {
  const Bars bars = synthesize({});
  std::map<std::int64_t, std::int64_t> bars_of_day;
  std::size_t right = 0, off_grid = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    ++bars_of_day[utc_day(bars.ts_open[i])];
    right += bars.high[i] >= std::max(bars.open[i], bars.close[i]) &&
             bars.low[i] <= std::min(bars.open[i], bars.close[i]) && bars.volume[i] > 0;
    for (const std::int64_t price : {bars.open[i], bars.high[i], bars.low[i], bars.close[i]})
      off_grid += price % 250'000'000 != 0;
  }
  REQUIRE(right == bars.size());
  REQUIRE(off_grid == 0);
  REQUIRE(bars_of_day.size() == 30);
  for (const auto& [day, count] : bars_of_day) {
    REQUIRE(weekday(day) < 5);
    REQUIRE(count >= 390);
    REQUIRE(count <= 405);
  }
  const Tape tape = tape_of(bars);
  REQUIRE(tape.session.back() + 1 == 31);  // the halt splits one day
  const auto rows_with = [&](RowFlag flag) {
    return std::count_if(tape.flags.begin(), tape.flags.end(), [=](std::uint8_t flags) { return flags & flag; });
  };
  REQUIRE(rows_with(gap_before) > 30);
  REQUIRE(rows_with(roll) == 1);
  REQUIRE(bars.symbols == std::map<std::uint32_t, std::string>{{1001, "ESH4"}, {1002, "ESM4"}});
}

TEST_CASE("synth: without holes and roll a day is a session of one contract") {
  SynthOptions options;
  options.holes = options.roll = false;
  const Tape tape = tape_of(synthesize(options));
  REQUIRE(tape.session.back() + 1 == 30);
  for (const std::uint8_t flags : tape.flags) REQUIRE((flags == 0 || flags == last_of_session));
  REQUIRE(tape.bars.symbols.size() == 1);
}

TEST_CASE("synth: busier at both ends of the day") {
  SynthOptions options;
  options.holes = false;
  const Bars bars = synthesize(options);
  double ends = 0, middle = 0, ends_rows = 0, middle_rows = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const std::int64_t minute = (bars.ts_open[i] % ns_per_day - 14 * ns_per_hour - 30 * ns_per_minute) / ns_per_minute;
    const auto range = static_cast<double>(bars.high[i] - bars.low[i]);
    if (minute < 30 || minute >= 360) ends += range, ++ends_rows;
    if (minute >= 180 && minute < 210) middle += range, ++middle_rows;
  }
  REQUIRE(ends / ends_rows > 1.6 * middle / middle_rows);
}

TEST_CASE("synth: each kind has the answer that it is for") {
  CHECK(std::abs(memory_of(market("walk"), 10)) < 0.06);
  CHECK(memory_of(market("baseline"), 10) > 0.08);
  CHECK(memory_of(market("trend"), 10) > 0.5);
  CHECK(memory_of(market("revert"), 60) < -0.25);
  CHECK(std::abs(memory_of(market("trend", 0.0), 10)) < 0.06);
  CHECK(memory_of(market("baseline", 0.6), 10) > memory_of(market("baseline", 0.2), 10));
  CHECK(std::abs(up_share(market("walk")) - 0.5) < 0.02);
  const double up = up_share(market("skewed"));
  CHECK(up > 0.94);
  CHECK(up < 0.96);
}

// Closes lie on the grid, so neighbouring changes share a rounding: that alone gives a correlation of about
// -(1/12) / (variance in ticks) = -0.02. Changes over ten bars have a tenth of it.
TEST_CASE("synth: a walk's changes know nothing of those before them") {
  double sum = 0;
  for (const std::uint64_t seed : market_seeds(20)) {
    SynthOptions options;
    options.kind = MarketKind::walk;
    options.seed = seed;
    const Tape tape = tape_of(synthesize(options));
    Correlation correlation;
    for (std::size_t i = 10; i + 10 < tape.rows(); i += 10)
      if (tape.session[i - 10] == tape.session[i + 10])
        correlation.add(static_cast<double>(tape.mid[i] - tape.mid[i - 10]),
                        static_cast<double>(tape.mid[i + 10] - tape.mid[i]));
    sum += correlation.value() / correlation.standard_error();
  }
  INFO("seed " << test::seed() << " sum of 20: " << sum);
  REQUIRE(std::abs(sum) < 4 * std::sqrt(20.0));
}

// 20,000 pairs of each regime, ten of which overlap: a standard error of about 0.02.
TEST_CASE("synth: regimes of 97 bars, trend and reversion in turn") {
  const Bars bars = market("regime");
  const double trend = memory_within(bars, 0, 0), reversion = memory_within(bars, 0, 1);
  INFO("seed " << test::seed() << " trend " << trend << " reversion " << reversion);
  CHECK(trend > 0.2);
  CHECK(reversion < -0.08);
  // Cut half a stretch later, both parities hold as much of one regime as of the other.
  const double mixed = memory_within(bars, regime_bars / 2, 0), other = memory_within(bars, regime_bars / 2, 1);
  CHECK(std::abs(mixed - other) < 0.5 * (trend - reversion));
}

TEST_CASE("synth: ten thousand days stay in range") {
  SynthOptions options;
  options.kind = MarketKind::walk;
  options.sessions = 3000;
  const Bars bars = synthesize(options);
  REQUIRE(*std::min_element(bars.low.begin(), bars.low.end()) > 0);
  tape_of(bars);
}

TEST_CASE("synth: wrong options are refused") {
  const auto refused = [](std::int64_t sessions, std::optional<double> strength) {
    SynthOptions options;
    options.sessions = sessions, options.strength = strength;
    return error_of(ExitCode::usage, [&] { synthesize(options); });
  };
  require_says(refused(0, {}), {"sessions", "got 0"});
  require_says(refused(10'001, {}), {"10001"});
  require_says(refused(1, 1.5), {"strength", "1.5"});
  require_says(refused(1, std::nan("")), {"strength"});
  for (const MarketKind kind : {MarketKind::walk, MarketKind::skewed}) {
    SynthOptions options;
    options.kind = kind, options.strength = 0.5;
    require_says(error_of(ExitCode::usage, [&] { synthesize(options); }), {market_kind_name(kind), "no strength"});
  }
  for (const MarketKindInfo& info : market_kinds()) {
    REQUIRE(market_kind(info.name) == info.kind);
    REQUIRE(market_kind_name(info.kind) == info.name);
  }
  require_says(error_of(ExitCode::usage, [] { market_kind("trnd"); }), {"'trnd'", "did you mean trend?"});
  const test::TemporaryFolder folder;
  require_says(error_of(ExitCode::usage, [&] { write_bars(synthesize({}), folder / "a.zip"); }), {"a.zip", ".dbn.zst"});
}

TEST_CASE("synth: every format that the name can ask for") {
  const test::TemporaryFolder folder;
  SynthOptions options;
  options.sessions = 1;
  const Bars bars = synthesize(options);
  for (const char* name : {"a.dbn", "a.dbn.zst", "a.csv"}) {
    write_bars(bars, folder / name);
    REQUIRE(same_bars(read_bars(folder / name), bars));
  }
}

}  // namespace foxhunt::market
