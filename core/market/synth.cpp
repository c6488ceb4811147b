#include "core/market/synth.h"

#include <algorithm>
#include <cmath>

#include "core/market/bar_collector.h"
#include "core/market/civil_time.h"
#include "core/market/synth_random.h"
#include "core/market/synth_sessions.h"
#include "core/market/synth_signal.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t one = synth_one, tick = synth_tick;
constexpr std::int64_t minute_noise = 650'000'000;  // standard deviation at a shape of one

/// Expected return of the coming minute: an autoregressive drift, or a pull to an anchor.
struct Drift {
  std::int64_t memory;      // minutes; 0: no drift
  std::int64_t innovation;  // sqrt(1 - (1 - 1/memory)^2) in thousandths, so that the state has unit variance
  double strength;          // default
};

Drift drift_of(MarketKind kind) {
  switch (kind) {
    case MarketKind::baseline:
      return {20, 312, 0.2};
    case MarketKind::trend:
      return {60, 182, 0.6};
    case MarketKind::revert:
      return {0, 0, 0.5};
    case MarketKind::regime:
      return {20, 312, 0.6};
    default:
      return {0, 0, 0};
  }
}

class Market {
 public:
  explicit Market(const SynthOptions& options)
      : options_(options),
        sessions_(options),
        drift_(drift_of(options.kind)),
        strength_(std::llround(options.strength.value_or(drift_.strength) * one)),
        random_(options.seed) {}

  Bars run() {
    while (sessions_.next()) {
      const std::int64_t change = sessions_.overnight_change(random_);
      price_ += change, anchor_ += change;
      trade_session();
    }
    name_bars();
    if (options_.signal) bars_.extra.push_back(make_signal(bars_, *options_.signal, options_.seed));
    return std::move(bars_);
  }

 private:
  void trade_session() {
    std::int64_t ts = sessions_.open();
    const std::int64_t bars = 390 + random_.below(16);
    const std::int64_t halt_at = sessions_.halts() ? 150 + random_.below(100) : -1;
    day_noise_ = minute_noise * (70 + random_.below(71)) / 100;
    for (std::int64_t bar = 0; bar < bars; ++bar, ts += ns_per_minute) {
      if (bar == halt_at) ts += synth_halt;
      if (bar > 0 && options_.holes && random_.below(128) == 0) ts += (1 + random_.below(3)) * ns_per_minute;
      append(bars_, trade_minute(ts, smile(bar, bars)));
    }
  }

  /// 0.6 in the middle of the session, 1.5 at both ends.
  static std::int64_t smile(std::int64_t bar, std::int64_t bars) {
    const std::int64_t from_middle = (2 * bar - bars) * one / bars;
    return one * 6 / 10 + from_middle * from_middle / one * 9 / 10;
  }

  /// Return of the next minute from open to close, in 1e-9 points.
  std::int64_t next_return(std::int64_t noise) {
    const std::int64_t z = random_.normal();
    if (options_.kind == MarketKind::skewed) {
      const std::int64_t size = tick + noise * std::abs(z) / one / 2;  // a tick at least, so that it shows on the grid
      return random_.below(100) < 95 ? size : -size;
    }
    if (options_.kind == MarketKind::revert) return noise * z / one - pull(20);
    if (options_.kind == MarketKind::regime && regime_reverts()) return noise * z / one - pull(5);
    if (drift_.memory) state_ += random_.normal() * drift_.innovation / 1000 - state_ / drift_.memory;
    return noise * (z + state_ * strength_ / one) / one;
  }

  /// Towards the anchor: at a strength of one, back in so many minutes.
  std::int64_t pull(std::int64_t minutes) const { return (price_ - anchor_) / minutes * strength_ / one; }

  /// Whether the coming bar is one of reversion. The first of a stretch drops the anchor.
  bool regime_reverts() {
    const auto bar = static_cast<std::int64_t>(bars_.size());
    if (bar % regime_bars == 0) anchor_ = price_;
    return bar / regime_bars % 2 == 1;
  }

  Bar trade_minute(std::int64_t ts, std::int64_t shape) {
    constexpr int steps = 6;
    const std::int64_t noise = day_noise_ * shape / one;
    const std::int64_t target = next_return(noise);
    std::int64_t path[steps], drift = 0;
    for (std::int64_t& step : path) step = drift += noise * random_.normal() / one * 408 / 1000;  // 1/sqrt(steps)

    Bar bar{ts, 0, 0, 0, 0, 0, sessions_.contract()};
    bar.open = bar.high = bar.low = on_synth_grid(price_ + opening_jump());
    for (int k = 0; k < steps; ++k) {  // a bridge: ends at the target whatever the noise
      const std::int64_t at = on_synth_grid(price_ + path[k] + (target - drift) * (k + 1) / steps);
      bar.high = std::max(bar.high, at);
      bar.low = std::min(bar.low, at);
      bar.close = at;
    }
    price_ = std::max(price_ + target, synth_lowest_price);
    bar.volume = static_cast<std::uint64_t>((300 + 900 * shape / one) * (50 + random_.below(100)) / 100 +
                                            200 * std::abs(target) / noise);
    return bar;
  }

  /// A quarter of the bars open a tick off the last close, but where every bar has a side, so that the side stays true.
  std::int64_t opening_jump() {
    if (options_.kind == MarketKind::skewed || random_.below(4)) return 0;
    return random_.below(2) ? tick : -tick;
  }

  void name_bars() {
    bars_.interval = ns_per_minute;
    bars_.symbols = sessions_.symbols();
    bars_.schema = "ohlcv-1m";
    bars_.source = "synthetic";
  }

  const SynthOptions options_;
  SynthSessions sessions_;  // checks the options
  const Drift drift_;
  const std::int64_t strength_;
  SynthRandom random_;
  Bars bars_;
  std::int64_t price_ = synth_start_price, anchor_ = synth_start_price;
  std::int64_t state_ = 0;
  std::int64_t day_noise_ = 0;
};

}  // namespace

Bars synthesize(const SynthOptions& options) { return Market(options).run(); }

}  // namespace foxhunt::market
