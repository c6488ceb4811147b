#include "core/market/features.h"

#include <cmath>
#include <random>
#include <set>

#include "core/market/feature_catalogue.h"
#include "core/market/synth.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

Series raw(const Tape& tape, const std::string& name) {
  for (const Feature& feature : all_features())
    if (feature.info.name == name) return feature.compute(FeatureInputs(tape));
  FAIL("no feature " << name);
  return {};
}

Tape tape_of(Bars bars) { return make_tape(std::move(bars), contract_for("ES"), {}); }

void require_finite(const Bars& bars) {
  const Tape tape = tape_of(bars);
  const FeatureInputs inputs(tape);
  for (const Feature& feature : all_features()) {
    const Series column = feature.compute(inputs);
    INFO(feature.info.name);
    REQUIRE(column.size() == bars.size());
    REQUIRE(all_below(column, 1e5));
  }
  const FeatureTable table = make_features(tape, {0, static_cast<std::int64_t>(tape.rows() + 1) / 2}, 4);
  REQUIRE(all_below(table.values, 4.0001));
}

/// Every price times `factor`, plus `shift` points.
Bars moved(Bars bars, std::int64_t factor, std::int64_t shift) {
  for (auto* column : {&bars.open, &bars.high, &bars.low, &bars.close})
    for (std::int64_t& price : *column) price = price * factor + shift * point;
  return bars;
}

void require_same_features(const Bars& a, const Bars& b) {
  const Tape tape = tape_of(a), other_tape = tape_of(b);
  const FeatureInputs inputs(tape), other(other_tape);
  for (const Feature& feature : all_features()) {
    Series difference = feature.compute(inputs);
    const Series y = feature.compute(other);
    for (std::size_t i = 0; i < y.size(); ++i) difference[i] -= y[i];
    INFO(feature.info.name);
    REQUIRE(all_below(difference, 1e-6));
  }
}

SynthOptions few_sessions() {
  SynthOptions options;
  options.sessions = 3;
  return options;
}

}  // namespace

TEST_CASE("features: the catalogue has 56 distinct names, each with a line of help") {
  const auto& catalogue = feature_catalogue();
  REQUIRE(catalogue.size() == 56);
  std::set<std::string> names;
  for (const FeatureInfo& feature : catalogue) {
    names.insert(feature.name);
    CHECK(feature.help.size() > 10);
    CHECK(feature.help.find('\n') == std::string::npos);
  }
  REQUIRE(names.size() == 56);
}

TEST_CASE("features: no two columns of a market are the same") {
  const Tape tape = tape_of(synthesize({}));
  const FeatureTable table = make_features(tape, {0, static_cast<std::int64_t>(tape.rows())}, 20);
  const std::size_t width = table.width();
  for (std::size_t a = 0; a < width; ++a)
    for (std::size_t b = a + 1; b < width; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < tape.rows(); ++i)
        product += double{table.values[i * width + a]} * double{table.values[i * width + b]};
      INFO(table.names[a] << " and " << table.names[b]);
      REQUIRE(std::abs(product) / static_cast<double>(tape.rows()) < 0.995);
    }
}

TEST_CASE("features: known values on a ramp of one point a row") {
  Bars bars;
  for (std::int64_t i = 0; i < 300; ++i) append(bars, minute_bar(i, 100 + i, 101 + i, 50));
  bars.interval = ns_per_minute;
  const Tape tape = tape_of(bars);
  const auto last = [&](const char* name) { return raw(tape, name).back(); };
  const auto first = [&](const char* name) { return raw(tape, name).front(); };
  CHECK(first("return_5") == 0);
  CHECK(last("return_1") == Approx(1));
  CHECK(last("return_60") == Approx(std::sqrt(60.0)));
  CHECK(raw(tape, "return_240")[9] == Approx(9 / std::sqrt(10.0)));  // the rows there are
  CHECK(last("volatility_15") == Approx(1));
  CHECK(last("volatility_ratio_5_60") == Approx(1));
  CHECK(last("volatility_regime") == Approx(1));
  CHECK(last("efficiency_30") == Approx(1));
  CHECK(last("rsi_14") == Approx(1));
  CHECK(last("autocorrelation_30") == Approx(1));
  CHECK(last("up_share_20") == Approx(1));
  CHECK(last("bar_body") == Approx(1));
  CHECK(last("bar_range") == Approx(1));
  CHECK(last("upper_shadow") == 0);
  CHECK(last("lower_shadow") == 0);
  CHECK(last("close_location") == Approx(1));
  CHECK(last("open_gap") == 0);
  CHECK(last("range_position_60") == Approx(1));
  CHECK(last("average_distance_10") == Approx(4.5));
  CHECK(last("macd") == Approx(7).epsilon(0.01));  // lags of 12.5 and 5.5 rows
  CHECK(std::abs(last("macd_histogram")) < 1e-3);
  CHECK(std::abs(last("volume_z_30")) < 1e-6);
  CHECK(last("volume_change") == 0);
  CHECK(last("volume_imbalance_15") == Approx(1));
  CHECK(last("money_flow_20") == Approx(1));
  CHECK(std::abs(last("vwap_offset_60")) < 1e-9);
  CHECK(last("minutes_since_open") == 300);
  CHECK(last("session_open_distance") == Approx(300));
  CHECK(last("session_high_distance") == 0);
  CHECK(last("session_low_distance") == Approx(300));
  CHECK(last("session_gap") == 0);
}

TEST_CASE("features: the clock and the gap between sessions") {
  // Monday 06:00 and 12:00: a quarter and a half of the day.
  const Tape tape = tape_of(bars_of({minute_bar(359, 100, 104), minute_bar(719, 107, 108), minute_bar(720, 108, 109)}));
  CHECK(raw(tape, "time_of_day_sin")[0] == Approx(1));
  CHECK(raw(tape, "time_of_day_cos")[1] == Approx(-1));
  CHECK(raw(tape, "minutes_since_open") == Series{1, 1, 2});
  const Series scale = FeatureInputs(tape).scale;
  CHECK(raw(tape, "session_gap")[0] == 0);
  CHECK(raw(tape, "session_gap")[1] == Approx(3 / scale[1]));
  CHECK(raw(tape, "session_gap")[2] == Approx(3 / scale[2]));
}

TEST_CASE("features: finite on every market") {
  std::mt19937_64 random(test::seed());
  SECTION("one row") { require_finite(bars_of({minute_bar(0, 5, 6)})); }
  SECTION("two rows") { require_finite(bars_of({minute_bar(0, 5, 6), minute_bar(1, 6, 5)})); }
  SECTION("a price that never moves, no volume") {
    Bars bars;
    for (std::int64_t i = 0; i < 700; ++i) append(bars, minute_bar(i, 7, 7, 0));
    bars.interval = ns_per_minute;
    require_finite(bars);
  }
  SECTION("a price that moves without volume") {
    Bars bars;
    for (std::int64_t i = 0; i < 300; ++i) append(bars, minute_bar(i, 100 + i % 7, 100 + i % 5, 0));
    bars.interval = ns_per_minute;
    require_finite(bars);
  }
  SECTION("a price that stands still for long and then jumps") {
    Bars bars;
    for (std::int64_t i = 0; i < 1500; ++i) append(bars, minute_bar(i, i < 5 ? 100 - i : 90, i < 1400 ? 90 : 900, 3));
    bars.interval = ns_per_minute;
    require_finite(bars);
  }
  SECTION("a roll at every row") {
    Bars bars;
    for (std::int64_t i = 0; i < 50; ++i) append(bars, minute_bar(i, 7 + i, 9, 4, static_cast<std::uint32_t>(i)));
    bars.interval = ns_per_minute;
    require_finite(bars);
  }
  SECTION("any price and any volume that fit") {
    Bars bars;
    for (std::int64_t i = 0; i < 2000; ++i) {
      Bar bar = minute_bar(i, 0, 0, random());
      std::int64_t prices[4];
      for (std::int64_t& price : prices) price = static_cast<std::int64_t>(random()) >> (random() % 50);
      std::sort(prices, prices + 4);
      bar.low = prices[0], bar.open = prices[1], bar.close = prices[2], bar.high = prices[3];
      append(bars, bar);
    }
    bars.interval = ns_per_minute;
    require_finite(bars);
  }
}

TEST_CASE("features: independent of a market's price") {
  const Bars bars = synthesize(few_sessions());
  require_same_features(bars, moved(bars, 12, 0));     // about 60,000
  require_same_features(bars, moved(bars, 1, -5000));  // about zero, often below
  require_same_features(bars, moved(bars, 1, -9000));  // negative throughout
  Bars small = bars;                                   // about 1.25
  for (auto* column : {&small.open, &small.high, &small.low, &small.close})
    for (std::int64_t& price : *column) price /= 4000;
  require_same_features(bars, small);
}

TEST_CASE("features: windows start afresh at a roll") {
  const Bars bars = synthesize(few_sessions());
  const Tape tape = tape_of(bars);
  std::size_t start = 0;
  while (!(tape.flags[start] & roll)) ++start;
  ++start;
  Bars after;
  for (std::size_t i = start; i < bars.size(); ++i) append(after, bar_at(bars, i));
  after.interval = bars.interval;
  const Tape other = tape_of(after);
  for (const FeatureInfo& feature : feature_catalogue()) {
    const Series whole = raw(tape, feature.name), alone = raw(other, feature.name);
    INFO(feature.name);
    REQUIRE(std::equal(alone.begin(), alone.end(), whole.begin() + static_cast<std::ptrdiff_t>(start)));
  }
}

TEST_CASE("features: standardised by the training split alone") {
  const Tape tape = tape_of(synthesize({}));
  const Split train{1000, 8000};
  const FeatureTable table = make_features(tape, train, 1e6);
  REQUIRE(table.width() == 56);
  REQUIRE(table.values.size() == tape.rows() * 56);
  for (std::size_t f = 0; f < table.width(); ++f) {
    double sum = 0, squares = 0;
    for (auto i = static_cast<std::size_t>(train.begin); i < static_cast<std::size_t>(train.end); ++i) {
      const double value = double{table.values[i * 56 + f]};
      sum += value, squares += value * value;
    }
    INFO(table.names[f]);
    REQUIRE(std::abs(sum / 7000) < 1e-4);
    REQUIRE(std::abs(squares / 7000 - 1) < 1e-3);
    REQUIRE(table.deviation[f] > 0);
  }
  REQUIRE(all_below(make_features(tape, train, 2.5).values, 2.5001));
}

TEST_CASE("features: a column that does not vary in training is left in its own units") {
  Bars bars;
  for (std::int64_t i = 0; i < 400; ++i) append(bars, minute_bar(i, 7, 7, i < 200 ? 5 : 50));
  bars.interval = ns_per_minute;
  const FeatureTable table = make_features(tape_of(bars), {0, 200}, 10);
  for (std::size_t f = 0; f < 56; ++f)
    if (table.names[f] == "volume_change") {
      REQUIRE(table.deviation[f] == 1);
      REQUIRE(table.values[200 * 56 + f] == Approx(std::log(51.0 / 6)));
    }
}

TEST_CASE("features: a further column is a feature that forgets nothing and foresees nothing") {
  const double none = std::nan("");
  Bars bars;
  for (std::int64_t i = 0; i < 8; ++i) append(bars, minute_bar(i, 100 + i, 101));
  bars.interval = ns_per_minute;
  bars.extra = {{"imbalance", {none, 1e-9, none, 3e-9, 5e-9, none, 9e-9, none}}, {"flat", Series(8, 7.0)}};
  const FeatureTable table = make_features(tape_of(bars), {0, 5}, 1e6);
  REQUIRE(table.width() == 58);
  REQUIRE(table.names[56] == "imbalance");
  REQUIRE(table.names[57] == "flat");
  // The known training values are 1, 3 and 5: their mean, 3, stands for the first row.
  const double filled[] = {3, 1, 1, 3, 5, 5, 9, 9};
  CHECK(table.mean[56] == Approx(13e-9 / 5));
  CHECK(table.deviation[56] == Approx(1e-9 * std::sqrt(2.24)));
  for (std::size_t i = 0; i < 8; ++i) {
    INFO(i);
    CHECK(double{table.values[i * 58 + 56]} == Approx((filled[i] - 2.6) / std::sqrt(2.24)));
    CHECK(table.values[i * 58 + 57] == 0);
  }
}

TEST_CASE("features: further columns in any unit, missing throughout or huge, are finite") {
  Bars bars;
  for (std::int64_t i = 0; i < 100; ++i) append(bars, minute_bar(i, 100 + i, 101));
  bars.interval = ns_per_minute;
  const auto column = [](auto value) {
    Series values(100);
    for (std::size_t i = 0; i < 100; ++i) values[i] = value(static_cast<double>(i));
    return values;
  };
  bars.extra = {{"missing", column([](double) { return std::nan(""); })},
                {"huge", column([](double i) { return (i - 50) * 2e98; })},
                {"tiny", column([](double i) { return i * 1e-300; })},
                {"huge later", column([](double i) { return i < 60 ? 1e-5 : 1e100; })}};
  const FeatureTable table = make_features(tape_of(bars), {0, 50}, 4);
  REQUIRE(all_below(table.values, 4.0001));
  REQUIRE(all_below(table.mean, 1e101));
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(table.values[i * table.width() + 56] == 0);
  REQUIRE(table.values[99 * table.width() + 59] == 4);
}

TEST_CASE("features: a further column cannot take a name that is taken") {
  Bars bars = bars_of({minute_bar(0, 5, 6), minute_bar(1, 6, 5)});
  bars.extra = {{"rsi_14", {1, 2}}};
  require_says(error_of(ExitCode::usage, [&] { make_features(tape_of(bars), {0, 2}, 5); }), {"rsi_14"});
  bars.extra = {{"mine", {1, 2}}, {"mine", {1, 2}}};
  require_says(error_of(ExitCode::usage, [&] { make_features(tape_of(bars), {0, 2}, 5); }), {"mine"});
  bars.extra = {{"mine", {1}}};
  require_says(error_of(ExitCode::data, [&] { tape_of(bars); }), {"mine", "1 values for 2 bars"});
}

TEST_CASE("features: wrong arguments are refused") {
  const Tape tape = tape_of(bars_of({minute_bar(0, 5, 6), minute_bar(1, 6, 5)}));
  for (const Split split : {Split{0, 0}, Split{-1, 1}, Split{0, 3}})
    require_says(error_of(ExitCode::data, [&] { make_features(tape, split, 5); }), {"train split", "2 rows"});
  for (const double clip : {0.0, -1.0, std::nan("")})
    require_says(error_of(ExitCode::usage, [&] { make_features(tape, {0, 2}, clip); }), {"features.clip"});
}

}  // namespace foxhunt::market
