// Nothing sees the future: change it, and nothing that was known changes.
#include <random>

#include "core/market/feature_catalogue.h"
#include "core/market/longer_bars.h"
#include "core/market/synth.h"
#include "core/market/timeframe_features.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

/// Other prices and volumes in every row after `cut`, at the same times.
Bars with_another_future(Bars bars, std::size_t cut, std::mt19937_64& random) {
  for (std::size_t i = cut + 1; i < bars.size(); ++i) {
    std::int64_t prices[4];
    for (std::int64_t& price : prices) price = static_cast<std::int64_t>(random() % 9000) * point / 4 + point;
    std::sort(prices, prices + 4);
    bars.low[i] = prices[0], bars.open[i] = prices[1], bars.close[i] = prices[2], bars.high[i] = prices[3];
    bars.volume[i] = random() % 100'000;
  }
  return bars;
}

/// Adds `rows` bars of a market that has everything: minutes, hours and days missing, trading dates, rolls, a change of
/// the clock, a column with holes.
void wander(Bars& bars, std::size_t rows, std::mt19937_64& random) {
  if (bars.size() == 0) bars.extra = {{"mine", {}}};
  bars.interval = ns_per_minute;
  bars.source = "wander";
  std::int64_t ts = bars.size() ? bars.ts_open.back() + ns_per_minute : 1'709'850'600 * ns_per_second;  // 2024-03-07
  std::int64_t price = bars.size() ? bars.close.back() : 5000 * point;
  std::uint32_t instrument = bars.size() ? bars.instrument.back() : 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto dice = random() % 400;
    if (dice < 12) ts += static_cast<std::int64_t>(random() % 6) * ns_per_minute;
    if (dice == 12) ts += static_cast<std::int64_t>(random() % 5) * ns_per_hour;
    if (dice == 13) ts += static_cast<std::int64_t>(random() % 4) * ns_per_day;
    if (dice == 14) ++instrument;
    const auto step = [&] { return (static_cast<std::int64_t>(random() % 9) - 4) * point / 4; };
    const std::int64_t open = price + step(), close = open + step();
    append(bars,
           {ts, open, std::max(open, close) + point / 4, std::min(open, close), close, random() % 50, instrument});
    bars.extra[0].values.push_back(random() % 3 ? static_cast<double>(random() % 100) : std::nan(""));
    price = close;
    ts += ns_per_minute;
  }
}

Bars without_future(const Bars& bars, std::size_t cut) {
  Bars past;
  for (std::size_t i = 0; i <= cut; ++i) append(past, bar_at(bars, i));
  for (const auto& [name, values] : bars.extra)
    past.extra.push_back({name, {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(cut) + 1}});
  past.interval = bars.interval;
  return past;
}

template <class Values>
bool same_head(const Values& a, const Values& b, std::size_t rows) {
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(rows), b.begin());
}

void require_same_past(const Tape& tape, const Tape& other, std::size_t cut) {
  const std::size_t known = cut + 1;
  REQUIRE(same_head(tape.ts, other.ts, known));
  REQUIRE(same_head(tape.mid, other.mid, known));
  REQUIRE(same_head(tape.half_spread, other.half_spread, known));
  REQUIRE(same_head(tape.session, other.session, known));
  REQUIRE(same_head(tape.instrument, other.instrument, known));
  // Row cut's own fill lies in the future, and so does the end of its session; those of the row before lie in row cut.
  REQUIRE(same_head(tape.fill_mid, other.fill_mid, cut));
  REQUIRE(same_head(tape.flags, other.flags, cut));
  const FeatureInputs inputs(tape), other_inputs(other);
  for (const Feature& feature : all_features()) {
    INFO(feature.info.name << " at or before row " << cut);
    REQUIRE(same_head(feature.compute(inputs), feature.compute(other_inputs), known));
  }
  for (const std::int64_t minutes : {2, 5, 30, 240}) {
    const auto a = timeframe_features(tape, inputs, minutes), b = timeframe_features(other, other_inputs, minutes);
    for (std::size_t f = 0; f < a.size(); ++f) {
      INFO(timeframe_feature_infos(minutes)[f].name << " at or before row " << cut);
      REQUIRE(same_head(a[f], b[f], known));
    }
  }
}

/// The same of the tapes of longer bars: those that are known when row cut is.
void require_same_longer_past(const Tape& tape, const Tape& other, std::size_t cut) {
  const Tape a = resample(tape, 15 * ns_per_minute), b = resample(other, 15 * ns_per_minute);
  std::size_t known = 0;  // the bar that row cut is in may still change, and end sooner
  while (known < a.rows() && a.ts[known] <= tape.bars.ts_open[cut]) ++known;
  REQUIRE(b.rows() >= known);
  for (const auto column : {&Tape::ts, &Tape::mid, &Tape::half_spread}) REQUIRE(same_head(a.*column, b.*column, known));
  for (const auto column : {&Bars::open, &Bars::high, &Bars::low, &Bars::close, &Bars::ts_open})
    REQUIRE(same_head(a.bars.*column, b.bars.*column, known));
  REQUIRE(same_head(a.bars.volume, b.bars.volume, known));
  REQUIRE(same_head(a.session, b.session, known));
  REQUIRE(same_head(a.flags, b.flags, known));
  REQUIRE(same_head(a.fill_mid, b.fill_mid, known));
  const FeatureInputs inputs(a), other_inputs(b);
  for (const Feature& feature : all_features()) {
    INFO(feature.info.name);
    REQUIRE(same_head(feature.compute(inputs), feature.compute(other_inputs), known));
  }
}

}  // namespace

TEST_CASE("tape: nothing at or before a row depends on later rows") {
  std::mt19937_64 random(test::seed());
  SynthOptions options;
  options.sessions = 4;  // with a halt and a roll
  options.seed = random();
  const Bars bars = synthesize(options);
  const Contract es = contract_for("ES");
  const Tape tape = make_tape(bars, es, {});
  for (int trial = 0; trial < 12; ++trial) {
    const std::size_t cut = random() % (bars.size() - 1);
    require_same_past(tape, make_tape(with_another_future(bars, cut, random), es, {}), cut);
    require_same_past(tape, make_tape(without_future(bars, cut), es, {}), cut);
  }
}

TEST_CASE("tape: nothing depends on later rows, whatever the market goes through") {
  std::mt19937_64 random(test::seed() + 2);
  const Contract es = contract_for("ES");
  std::size_t sessions = 0, rolls = 0;
  for (int trial = 0; trial < 20; ++trial) {
    Bars bars;
    wander(bars, 1500, random);
    const Tape tape = make_tape(bars, es, {});
    sessions += static_cast<std::size_t>(tape.session.back());
    rolls += bars.instrument.back() - 1;
    const std::size_t cut = random() % (bars.size() - 1);
    Bars elsewhere = without_future(bars, cut);  // other times and contracts too
    wander(elsewhere, 300, random);
    for (const Bars& changed : {with_another_future(bars, cut, random), without_future(bars, cut), elsewhere}) {
      const Tape other = make_tape(changed, es, {});
      require_same_past(tape, other, cut);
      require_same_longer_past(tape, other, cut);
    }
  }
  REQUIRE(sessions > 100);
  REQUIRE(rolls > 20);
}

TEST_CASE("tape: every row is filled after it is known, at a price of the next row") {
  const Tape tape = make_tape(synthesize({}), contract_for("ES"), {});
  for (std::size_t i = 0; i + 1 < tape.rows(); ++i) {
    if (tape.flags[i] & last_of_session) {
      REQUIRE(tape.fill_mid[i] == tape.mid[i]);
      REQUIRE(tape.session[i + 1] == tape.session[i] + 1);
    } else {
      REQUIRE(tape.fill_mid[i] == tape.bars.open[i + 1]);
      REQUIRE(tape.bars.ts_open[i + 1] >= tape.ts[i]);
      REQUIRE(tape.instrument[i + 1] == tape.instrument[i]);
    }
  }
}

TEST_CASE("features: the table of known rows does not depend on later rows") {
  std::mt19937_64 random(test::seed());
  const Bars bars = synthesize({});
  const Contract es = contract_for("ES");
  const Split train{0, 7000};
  const std::vector<std::int64_t> timeframes{5, 30};
  const FeatureTable table = make_features(make_tape(bars, es, {}), train, 5, timeframes);
  for (const std::size_t cut : {std::size_t{7000}, std::size_t{9000} + random() % 2000}) {
    const FeatureTable other =
        make_features(make_tape(with_another_future(bars, cut, random), es, {}), train, 5, timeframes);
    REQUIRE(table.mean == other.mean);
    REQUIRE(table.deviation == other.deviation);
    REQUIRE(same_head(table.values, other.values, (cut + 1) * table.width()));
    REQUIRE(table.values != other.values);
  }
}

}  // namespace foxhunt::market
