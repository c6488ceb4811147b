// Nothing sees the future: change it, and nothing that was known changes.
#include <random>

#include "core/market/feature_catalogue.h"
#include "core/market/synth.h"
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

Bars without_future(const Bars& bars, std::size_t cut) {
  Bars past;
  for (std::size_t i = 0; i <= cut; ++i) append(past, bar_at(bars, i));
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
  // Row cut's own fill lies in the future, and so does the end of its session.
  REQUIRE(same_head(tape.fill_mid, other.fill_mid, cut));
  REQUIRE(same_head(tape.flags, other.flags, cut));
  const FeatureInputs inputs(tape), other_inputs(other);
  for (const Feature& feature : all_features()) {
    INFO(feature.info.name << " at or before row " << cut);
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
  const FeatureTable table = make_features(make_tape(bars, es, {}), train, 5);
  for (const std::size_t cut : {std::size_t{7000}, std::size_t{9000} + random() % 2000}) {
    const FeatureTable other = make_features(make_tape(with_another_future(bars, cut, random), es, {}), train, 5);
    REQUIRE(table.mean == other.mean);
    REQUIRE(table.deviation == other.deviation);
    REQUIRE(same_head(table.values, other.values, (cut + 1) * table.width()));
    REQUIRE(table.values != other.values);
  }
}

}  // namespace foxhunt::market
