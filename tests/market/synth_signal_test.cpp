#include "core/market/csv_writer.h"
#include "core/market/dbn_writer.h"
#include "core/market/reader.h"
#include "core/market/writer.h"
#include "tests/market/synth_fixture.h"

namespace foxhunt::market {
namespace {

Bars with_signal(const char* kind, std::optional<double> strength, std::uint64_t seed = test::seed(),
                 std::int64_t sessions = 40) {
  SynthOptions options;
  options.kind = market_kind(kind);
  options.sessions = sessions;
  options.seed = seed;
  options.signal = strength;
  return synthesize(options);
}

bool same_day(const Bars& bars, std::size_t i, std::size_t j) {
  return j < bars.size() && utc_day(bars.ts_open[i]) == utc_day(bars.ts_open[j]);
}

double change(const Bars& bars, std::size_t i) { return static_cast<double>(bars.close[i + 1] - bars.close[i]); }

/// Correlation of the signal with the change that lies `ahead` bars after the one that it is about.
Correlation signal_with_change(const Bars& bars, std::size_t ahead) {
  Correlation correlation;
  for (std::size_t i = 0; i + ahead + 1 < bars.size(); ++i)
    if (same_day(bars, i, i + ahead + 1)) correlation.add(bars.extra[0].values[i], change(bars, i + ahead));
  return correlation;
}

}  // namespace

// The estimate's standard error is (1 - s^2) / sqrt(n) for normal pairs; twice that leaves room for changes that are
// not normal. n is about 16,000.
TEST_CASE("synth: the signal's correlation with the next change is its strength, of every kind") {
  for (const MarketKindInfo& kind : market_kinds())
    for (const double strength : {0.0, 0.1, 0.5, 1.0}) {
      const Correlation next = signal_with_change(with_signal(kind.name.c_str(), strength), 0);
      INFO(kind.name << " strength " << strength << " correlation " << next.value() << " seed " << test::seed());
      CHECK(std::abs(next.value() - strength) <=
            6 * (1 - strength * strength) * next.standard_error() + 2e-4);  // and four decimals
    }
}

// The change right after the one that it is about shares a close with that, and so the rounding to the grid: there is a
// correlation of some -0.01.
TEST_CASE("synth: the signal of a walk says nothing of later changes") {
  double sum = 0;
  for (const std::uint64_t seed : market_seeds(20)) {
    const Correlation later = signal_with_change(with_signal("walk", 0.5, seed), 2);
    sum += later.value() / later.standard_error();
  }
  INFO("seed " << test::seed() << " sum of 20: " << sum);
  REQUIRE(std::abs(sum) < 4 * std::sqrt(20.0));
}

TEST_CASE("synth: a day's last signal does not know what comes overnight") {
  Correlation overnight;
  const Bars bars = with_signal("walk", 1.0, test::seed(), 2000);
  for (std::size_t i = 0; i + 1 < bars.size(); ++i)
    if (!same_day(bars, i, i + 1)) overnight.add(bars.extra[0].values[i], change(bars, i));
  INFO("seed " << test::seed() << " correlation " << overnight.value());
  REQUIRE(std::abs(overnight.value()) < 4 * overnight.standard_error());
}

TEST_CASE("synth: the bars are the same with a signal and without") {
  REQUIRE(same_bars(with_signal("baseline", 0.5), with_signal("baseline", {})));
  REQUIRE(with_signal("baseline", 0.5).extra[0].values == with_signal("baseline", 0.5).extra[0].values);
  REQUIRE(with_signal("baseline", 0.5).extra[0].values != with_signal("baseline", 0.4).extra[0].values);
}

TEST_CASE("synth: the signal is a column of CSV, which data.csv_features reads, and DBN has no place for it") {
  const test::TemporaryFolder folder;
  const Bars bars = with_signal("walk", 0.5, 1, 3);
  write_bars(bars, folder / "a.csv");
  ReadOptions options;
  options.csv.features = {"signal"};
  const Bars read = read_bars(folder / "a.csv", options);
  REQUIRE(same_bars(read, bars));
  REQUIRE(read.extra.size() == 1);
  REQUIRE(read.extra[0].values == bars.extra[0].values);
  for (const char* name : {"a.dbn", "a.dbn.zst"}) {
    require_says(error_of(ExitCode::usage, [&] { write_bars(bars, folder / name); }),
                 {"column signal", ".csv", "data.csv_features = [\"signal\"]"});
    REQUIRE_FALSE(std::filesystem::exists(folder / name));
  }
}

TEST_CASE("synth: a signal outside 0 to 1 is refused") {
  for (const double strength : {-0.1, 1.1, std::nan("")})
    require_says(error_of(ExitCode::usage, [&] { with_signal("walk", strength); }), {"signal", "between 0 and 1"});
}

}  // namespace foxhunt::market
