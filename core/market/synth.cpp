#include "core/market/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "core/market/bar_collector.h"
#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t one = 1 << 16;  // fixed point of everything without a unit
constexpr std::int64_t tick = 250'000'000;
constexpr std::int64_t start_price = 5000 * price_scale;
constexpr std::int64_t lowest_price = 100 * price_scale;
constexpr std::int64_t minute_noise = 650'000'000;  // standard deviation at a shape of one
constexpr std::int64_t basis = 12 * price_scale + price_scale / 2;
constexpr std::int64_t overnight_noise = 6 * price_scale;
constexpr std::int64_t session_open = 14 * ns_per_hour + 30 * ns_per_minute;
constexpr std::int64_t halt_minutes = 45;
constexpr std::uint32_t first_contract = 1001, second_contract = 1002;

/// Integers only: std::normal_distribution and the maths library differ from one platform to the next.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>((engine_() >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

  /// Standard normal in units of `one`: twelve uniforms, summed (Irwin-Hall), so it never exceeds six.
  std::int64_t normal() {
    std::int64_t sum = -6 * one;
    for (int draw = 0; draw < 3; ++draw) {
      const std::uint64_t bits = engine_();
      for (int part = 0; part < 4; ++part) sum += bits >> (16 * part) & 0xFFFF;
    }
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

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
    default:
      return {0, 0, 0};
  }
}

class Market {
 public:
  explicit Market(const SynthOptions& options)
      : options_(options),
        drift_(drift_of(options.kind)),
        strength_(std::llround(options.strength.value_or(drift_.strength) * one)),
        random_(options.seed) {}

  Bars run() {
    std::int64_t day = 0;
    day_start(2024, 2, 12, day);
    for (std::int64_t session = 0; session < options_.sessions; ++session, day += ns_per_day) {
      while (weekday(utc_day(day)) > 4) day += ns_per_day;
      if (session > 0) move_overnight(session);
      trade_session(session, day + session_open);
    }
    name_bars();
    return std::move(bars_);
  }

 private:
  void move_overnight(std::int64_t session) {
    std::int64_t jump = overnight_noise / one * random_.normal();
    if (options_.roll && options_.sessions >= 3 && session == options_.sessions * 2 / 3) {
      contract_ = second_contract;
      jump += basis;
    }
    price_ += jump;
    anchor_ += jump;
  }

  void trade_session(std::int64_t session, std::int64_t ts) {
    const std::int64_t bars = 390 + random_.below(16);
    const std::int64_t halt_at = options_.holes && session == options_.sessions / 2 ? 150 + random_.below(100) : -1;
    day_noise_ = minute_noise * (70 + random_.below(71)) / 100;
    for (std::int64_t bar = 0; bar < bars; ++bar, ts += ns_per_minute) {
      if (bar == halt_at) ts += halt_minutes * ns_per_minute;
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
    if (options_.kind == MarketKind::revert) return noise * z / one - (price_ - anchor_) / 20 * strength_ / one;
    if (drift_.memory) state_ += random_.normal() * drift_.innovation / 1000 - state_ / drift_.memory;
    return noise * (z + state_ * strength_ / one) / one;
  }

  Bar trade_minute(std::int64_t ts, std::int64_t shape) {
    constexpr int steps = 6;
    const std::int64_t noise = day_noise_ * shape / one;
    const std::int64_t target = next_return(noise);
    std::int64_t path[steps], drift = 0;
    for (std::int64_t& step : path) step = drift += noise * random_.normal() / one * 408 / 1000;  // 1/sqrt(steps)

    Bar bar{ts, 0, 0, 0, 0, 0, contract_};
    bar.open = bar.high = bar.low = on_grid(price_ + opening_jump());
    for (int k = 0; k < steps; ++k) {  // a bridge: ends at the target whatever the noise
      const std::int64_t at = on_grid(price_ + path[k] + (target - drift) * (k + 1) / steps);
      bar.high = std::max(bar.high, at);
      bar.low = std::min(bar.low, at);
      bar.close = at;
    }
    price_ = std::max(price_ + target, lowest_price);
    bar.volume = static_cast<std::uint64_t>((300 + 900 * shape / one) * (50 + random_.below(100)) / 100 +
                                            200 * std::abs(target) / noise);
    return bar;
  }

  /// A quarter of the bars open a tick off the last close, but where every bar has a side, so that the side stays true.
  std::int64_t opening_jump() {
    if (options_.kind == MarketKind::skewed || random_.below(4)) return 0;
    return random_.below(2) ? tick : -tick;
  }

  static std::int64_t on_grid(std::int64_t price) { return (price + tick / 2) / tick * tick; }

  void name_bars() {
    bars_.interval = ns_per_minute;
    bars_.symbols[first_contract] = "ESH4";
    if (contract_ == second_contract) bars_.symbols[second_contract] = "ESM4";
    bars_.schema = "ohlcv-1m";
    bars_.source = "synthetic";
  }

  const SynthOptions options_;
  const Drift drift_;
  const std::int64_t strength_;
  Random random_;
  Bars bars_;
  std::int64_t price_ = start_price, anchor_ = start_price;
  std::int64_t state_ = 0;
  std::int64_t day_noise_ = 0;
  std::uint32_t contract_ = first_contract;
};

}  // namespace

Bars synthesize(const SynthOptions& options) {
  if (options.sessions < 1 || options.sessions > 10'000)
    throw Error(ExitCode::usage, fmt::format("sessions must be between 1 and 10000, got {}", options.sessions));
  if (options.strength && !(*options.strength >= 0 && *options.strength <= 1))
    throw Error(ExitCode::usage, fmt::format("strength must be between 0 and 1, got {}", *options.strength));
  return Market(options).run();
}

const std::vector<std::string>& market_kind_names() {
  static const std::vector<std::string> names{"baseline", "walk", "trend", "revert", "skewed"};
  return names;
}

MarketKind market_kind(const std::string& name) {
  const auto& names = market_kind_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at != names.end()) return static_cast<MarketKind>(at - names.begin());
  const std::string nearest = nearest_name(name, names);
  throw Error(ExitCode::usage, fmt::format("no market kind '{}'; the kinds are {}{}", name, fmt::join(names, ", "),
                                           nearest.empty() ? "" : "; did you mean " + nearest + "?"));
}

}  // namespace foxhunt::market
