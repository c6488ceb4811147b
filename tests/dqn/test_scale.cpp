// The same market at other prices and in bars of another length.
#include <cmath>

#include "core/market/civil_time.h"
#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// The generator's market with its tick put at another size: the same course in ticks.
market::Bars rescaled(market::Bars bars, std::int64_t tick) {
  constexpr std::int64_t own_tick = 250'000'000;
  for (auto* column : {&bars.open, &bars.high, &bars.low, &bars.close})
    for (std::int64_t& price : *column) price = price / own_tick * tick;
  return bars;
}

std::unique_ptr<Training> rescaled_training(const std::string& device, std::int64_t tick,
                                            const std::vector<std::string>& contract) {
  std::vector<std::string> overrides = {"exploration.epsilon_start=1", "exploration.epsilon_end=1",
                                        "environment.starting_capital=1e9"};
  overrides.insert(overrides.end(), contract.begin(), contract.end());
  const profile::Profile profile = smoke_profile(overrides);
  market::SynthOptions options;
  options.sessions = 12;
  options.seed = seed();
  return std::make_unique<Training>(profile, device,
                                    dqn::make_market(rescaled(market::synthesize(options), tick), profile));
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    largest = difference <= largest ? largest : difference;  // a NaN gets through
  }
  return largest;
}

}  // namespace

TEST_CASE("scale: a market at prices around 1.1 and at 60,000 gives the same observations and rewards") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    // $6.875 a tick and $6 a tick, commissions a third of it.
    const auto low = rescaled_training(
        name, 55'000, {"contract.tick_size=0.000055", "contract.multiplier=125000", "contract.commission=2.2916667"});
    const auto high = rescaled_training(name, 3'000'000'000,
                                        {"contract.tick_size=3", "contract.multiplier=2", "contract.commission=2"});
    REQUIRE(low->market.tape.mid[0] / 1e9 == Approx(1.1).epsilon(0.1));
    REQUIRE(high->market.tape.mid[0] / 1e9 == Approx(60'000).epsilon(0.1));
    REQUIRE(low->market.features.names == high->market.features.names);
    const auto& a = low->market.tables.table;
    const auto& b = high->market.tables.table;
    REQUIRE(largest_difference({a.data(), a.size()}, {b.data(), b.size()}) < 1e-3);
    REQUIRE(low->market.tables.typical_move / high->market.tables.typical_move == Approx(6.875 / 6));

    // Every action random, the same ones: what replay holds is what both agents learn from.
    low->trainer.advance(60);
    high->trainer.advance(60);
    const auto replay = [](Training& t, auto span) { return t.device->download(t.trainer.agent().ring().*span); };
    REQUIRE(replay(*low, &dqn::EpisodeRing::action) == replay(*high, &dqn::EpisodeRing::action));
    REQUIRE(replay(*low, &dqn::EpisodeRing::row) == replay(*high, &dqn::EpisodeRing::row));
    const auto reward = replay(*low, &dqn::EpisodeRing::reward);
    REQUIRE(largest_difference(reward, std::vector<float>(reward.size())) > 0.5);
    REQUIRE(largest_difference(reward, replay(*high, &dqn::EpisodeRing::reward)) < 1e-4);
    const auto portfolio = replay(*low, &dqn::EpisodeRing::portfolio);
    REQUIRE(largest_difference(portfolio, replay(*high, &dqn::EpisodeRing::portfolio)) < 1e-4);
    const double low_loss = static_cast<double>(low->trainer.agent().health().isv[isv_loss]);
    REQUIRE(low_loss > 0);
    REQUIRE(static_cast<double>(high->trainer.agent().health().isv[isv_loss]) == Approx(low_loss).epsilon(0.02));
  }
}

namespace {

/// Bars of `count` minutes from bars of one, session by session; a session's last bar may be short.
market::Bars longer_bars(const market::Bars& minutes, std::int64_t count) {
  market::Bars bars;
  bars.interval = count * minutes.interval;
  bars.schema = "resampled";
  bars.source = minutes.source;
  std::int64_t session_start = 0;
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    if (i == 0 || minutes.ts_open[i] - minutes.ts_open[i - 1] > market::ns_per_hour) session_start = minutes.ts_open[i];
    const std::int64_t start = minutes.ts_open[i] - (minutes.ts_open[i] - session_start) % bars.interval;
    if (bars.size() == 0 || bars.ts_open.back() != start) {
      bars.ts_open.push_back(start);
      bars.open.push_back(minutes.open[i]);
      bars.high.push_back(minutes.high[i]);
      bars.low.push_back(minutes.low[i]);
      bars.close.push_back(minutes.close[i]);
      bars.volume.push_back(minutes.volume[i]);
      bars.instrument.push_back(1);
      continue;
    }
    bars.high.back() = std::max(bars.high.back(), minutes.high[i]);
    bars.low.back() = std::min(bars.low.back(), minutes.low[i]);
    bars.close.back() = minutes.close[i];
    bars.volume.back() += minutes.volume[i];
  }
  return bars;
}

/// Sixty weekdays of 390 minutes, each with a slope of its own between -10 and +14 ticks of ES a half hour.
market::Bars sloping_days() {
  market::Bars bars;
  bars.interval = market::ns_per_minute;
  bars.schema = "ohlcv-1m";
  bars.source = "test";
  constexpr std::int64_t hundredth_of_a_tick = 2'500'000;
  std::int64_t price = 5000 * market::price_scale;
  for (std::int64_t day = 0; day < 60; ++day) {
    const std::int64_t date = day / 5 * 7 + day % 5, slope = (day * 7 % 25 - 10) * 100 / 30;
    for (std::int64_t i = 0; i < 390; ++i) {
      const std::int64_t open = price;
      price += slope * hundredth_of_a_tick;
      bars.ts_open.push_back(date * market::ns_per_day + 870 * market::ns_per_minute + i * market::ns_per_minute);
      bars.open.push_back(open);
      bars.high.push_back(std::max(open, price));
      bars.low.push_back(std::min(open, price));
      bars.close.push_back(price);
      bars.volume.push_back(10);
      bars.instrument.push_back(1);
    }
  }
  return bars;
}

}  // namespace

TEST_CASE("scale: annualised figures of a constant strategy are the same in 1-minute and 30-minute bars") {
  const market::Bars minutes = sloping_days();
  const auto hold = [](const market::Bars& bars) {
    const profile::Profile profile =
        smoke_profile({"contract.symbol=\"ES\"", "data.purge_rows=0", "training.gpu_timesteps_per_episode=8",
                       "data.train_fraction=0.3", "data.validation_fraction=0.1"});
    Training training(profile, "host", dqn::make_market(bars, profile));
    const dqn::Account& account = training.trainer.account();
    const auto policy = dqn::baselines(account.tape, account.positions, 1, 1).at(1);
    REQUIRE(policy.name == "buy_and_hold");
    return dqn::measure(training.trainer.test().run(policy.policy), account);
  };
  const dqn::Performance short_bars = hold(minutes), long_bars = hold(longer_bars(minutes, 30));
  REQUIRE(short_bars.sessions == 36);
  REQUIRE(long_bars.sessions == 36);
  REQUIRE(short_bars.steps == 36 * 389);
  REQUIRE(long_bars.steps == 36 * 12);
  // 60 weekdays over 11 weeks and four days.
  REQUIRE(short_bars.periods_per_year == Approx(59 / 81.0 * 365.2425));
  REQUIRE(long_bars.periods_per_year == Approx(short_bars.periods_per_year));
  REQUIRE(std::abs(short_bars.sharpe) > 1);
  REQUIRE(long_bars.sharpe == Approx(short_bars.sharpe).epsilon(0.05));
  REQUIRE(long_bars.sortino == Approx(short_bars.sortino).epsilon(0.05));
  REQUIRE(long_bars.time_in_market == short_bars.time_in_market);
  REQUIRE(long_bars.exposure == short_bars.exposure);
  REQUIRE(long_bars.mean_holding_minutes == Approx(360));
  REQUIRE(short_bars.mean_holding_minutes == Approx(389));
}
