#include "core/market/feature_catalogue.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

using In = const FeatureInputs&;
using Compute = std::function<Series(In)>;

/// Where nothing moved or traded there is nothing to compare with: 0.
double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double sign(double x) { return static_cast<double>((x > 0) - (x < 0)); }

template <class F>
Series per_row(In in, F f) {
  Series column(in.rows);
  for (std::size_t i = 0; i < in.rows; ++i) column[i] = f(i);
  return column;
}

/// Root mean square of the changes of the last n rows, points.
Series realised(In in, std::size_t n) {
  Series mean = rolling_mean(per_row(in, [&](std::size_t i) { return in.change[i] * in.change[i]; }), n, in.runs);
  for (double& x : mean) x = std::sqrt(x);
  return mean;
}

// Price moves

Compute return_over(std::size_t n) {
  return [n](In in) {
    Series moved = rolling_sum(in.change, n, in.runs);
    for (const Run& run : in.runs)
      for (std::size_t i = run.begin; i < run.end; ++i)
        moved[i] = ratio(moved[i], in.scale[i] * std::sqrt(static_cast<double>(std::min(n, i - run.begin + 1))));
    return moved;
  };
}

Compute volatility(std::size_t n) {
  return [n](In in) {
    const Series moves = realised(in, n);
    return per_row(in, [&](std::size_t i) { return ratio(moves[i], in.scale[i]); });
  };
}

Compute volatility_ratio(std::size_t shorter, std::size_t longer) {
  return [=](In in) {
    const Series now = realised(in, shorter), usual = realised(in, longer);
    return per_row(in, [&](std::size_t i) { return ratio(now[i], usual[i]); });
  };
}

Series volatility_regime(In in) {
  const Series now = rolling_mean(in.true_range, 240, in.runs);
  Series regime(in.rows);
  for (const Run& run : in.runs) {
    double sum = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      sum += in.true_range[i];
      regime[i] = ratio(now[i], sum / static_cast<double>(i - run.begin + 1));
    }
  }
  return regime;
}

Compute efficiency(std::size_t n) {
  return [n](In in) {
    const Series moved = rolling_sum(in.change, n, in.runs);
    const Series walked = rolling_sum(per_row(in, [&](std::size_t i) { return std::abs(in.change[i]); }), n, in.runs);
    return per_row(in, [&](std::size_t i) { return ratio(std::abs(moved[i]), walked[i]); });
  };
}

/// Wilder's relative strength index, on -1 to 1.
Compute rsi(double n) {
  return [n](In in) {
    const Series up =
        exponential_mean(per_row(in, [&](std::size_t i) { return std::max(in.change[i], 0.0); }), 1 / n, in.runs);
    const Series down =
        exponential_mean(per_row(in, [&](std::size_t i) { return std::max(-in.change[i], 0.0); }), 1 / n, in.runs);
    return per_row(in, [&](std::size_t i) { return ratio(up[i] - down[i], up[i] + down[i]); });
  };
}

Compute autocorrelation(std::size_t n) {
  return [n](In in) {
    const auto lagged = [&](std::size_t i) { return in.run_starts[i] ? 0 : in.change[i - 1]; };
    const auto total = [&](auto f) { return rolling_sum(per_row(in, f), n, in.runs); };
    const Series both = total([&](std::size_t i) { return in.change[i] * lagged(i); });
    const Series now = total([&](std::size_t i) { return in.change[i] * in.change[i]; });
    const Series before = total([&](std::size_t i) { return lagged(i) * lagged(i); });
    return per_row(in, [&](std::size_t i) { return ratio(both[i], std::sqrt(now[i]) * std::sqrt(before[i])); });
  };
}

Compute up_share(std::size_t n) {
  return
      [n](In in) { return rolling_mean(per_row(in, [&](std::size_t i) { return sign(in.change[i]); }), n, in.runs); };
}

// Shape and place of the bar

/// A distance in points of row i, in units of the scale.
template <class F>
Compute scaled(F points) {
  return [points](In in) { return per_row(in, [&](std::size_t i) { return ratio(points(in, i), in.scale[i]); }); };
}

double close_location(In in, std::size_t i) {
  return ratio((in.close[i] - in.low[i]) - (in.high[i] - in.close[i]), in.high[i] - in.low[i]);
}

Compute range_position(std::size_t n) {
  return [n](In in) {
    const Series top = rolling_max(in.high, n, in.runs), bottom = rolling_min(in.low, n, in.runs);
    return per_row(in, [&](std::size_t i) {
      return ratio((in.close[i] - bottom[i]) - (top[i] - in.close[i]), top[i] - bottom[i]);
    });
  };
}

Compute average_distance(std::size_t n) {
  return [n](In in) {
    const Series mean = rolling_mean(in.close, n, in.runs);
    return per_row(in, [&](std::size_t i) { return ratio(in.close[i] - mean[i], in.scale[i]); });
  };
}

Series macd_points(In in) {
  const Series fast = exponential_mean(in.close, 2.0 / 13, in.runs),
               slow = exponential_mean(in.close, 2.0 / 27, in.runs);
  return per_row(in, [&](std::size_t i) { return fast[i] - slow[i]; });
}

Series macd(In in) {
  const Series line = macd_points(in);
  return per_row(in, [&](std::size_t i) { return ratio(line[i], in.scale[i]); });
}

Series macd_histogram(In in) {
  const Series line = macd_points(in), signal = exponential_mean(line, 2.0 / 10, in.runs);
  return per_row(in, [&](std::size_t i) { return ratio(line[i] - signal[i], in.scale[i]); });
}

// Volume

Compute volume_z(std::size_t n) {
  return [n](In in) {
    constexpr double least_deviation = 0.1;  // a tenth of the volume, or thereabouts
    const Series mean = rolling_mean(in.log_volume, n, in.runs);
    const Series square =
        rolling_mean(per_row(in, [&](std::size_t i) { return in.log_volume[i] * in.log_volume[i]; }), n, in.runs);
    return per_row(in, [&](std::size_t i) {
      const double deviation = std::sqrt(std::max(square[i] - mean[i] * mean[i], 0.0));
      return (in.log_volume[i] - mean[i]) / std::max(deviation, least_deviation);
    });
  };
}

Series volume_change(In in) {
  return per_row(in, [&](std::size_t i) { return in.run_starts[i] ? 0 : in.log_volume[i] - in.log_volume[i - 1]; });
}

Series volume_trend(In in) {
  const Series now = rolling_mean(in.log_volume, 5, in.runs), usual = rolling_mean(in.log_volume, 60, in.runs);
  return per_row(in, [&](std::size_t i) { return now[i] - usual[i]; });
}

/// Mean of f(in, i) over the last n rows, weighted by volume; 0 where nothing traded.
template <class F>
Series volume_weighted(In in, std::size_t n, F f) {
  Series sum = rolling_sum(per_row(in, [&](std::size_t i) { return in.volume[i] * f(in, i); }), n, in.runs);
  const Series traded = rolling_sum(in.volume, n, in.runs);
  for (std::size_t i = 0; i < in.rows; ++i) sum[i] = ratio(sum[i], traded[i]);
  return sum;
}

Compute volume_imbalance(std::size_t n) {
  return [n](In in) { return volume_weighted(in, n, [](In x, std::size_t i) { return sign(x.change[i]); }); };
}

Series money_flow(In in) { return volume_weighted(in, 20, close_location); }

double typical_price(In in, std::size_t i) { return (in.high[i] + in.low[i] + in.close[i]) / 3; }

Series vwap_offset(In in) {
  const Series vwap = volume_weighted(in, 60, typical_price), traded = rolling_sum(in.volume, 60, in.runs);
  const Series mean = rolling_mean(per_row(in, [&](std::size_t i) { return typical_price(in, i); }), 60, in.runs);
  return per_row(in, [&](std::size_t i) { return traded[i] > 0 ? ratio(vwap[i] - mean[i], in.scale[i]) : 0; });
}

// Session and clock

/// f(session, i), for the rows of each session in order; `start` is called before its first row.
template <class Start, class F>
Series per_session_row(In in, Start start, F f) {
  Series column(in.rows);
  for (const Run& session : in.sessions) {
    start(session);
    for (std::size_t i = session.begin; i < session.end; ++i) column[i] = f(session, i);
  }
  return column;
}

Series minutes_since_open(In in) {
  return per_session_row(
      in, [](const Run&) {},
      [&](const Run& session, std::size_t i) {
        const auto since = static_cast<double>(in.ts[i] - in.ts[session.begin] + in.interval) / double{ns_per_minute};
        return std::min(since, 1440.0);  // sessions of daily bars last for years
      });
}

Series session_open_distance(In in) {
  return per_session_row(
      in, [](const Run&) {},
      [&](const Run& session, std::size_t i) { return ratio(in.close[i] - in.open[session.begin], in.scale[i]); });
}

Series session_high_distance(In in) {
  double top = 0;
  return per_session_row(
      in, [&](const Run& session) { top = in.high[session.begin]; },
      [&](const Run&, std::size_t i) {
        return top = std::max(top, in.high[i]), ratio(top - in.close[i], in.scale[i]);
      });
}

Series session_low_distance(In in) {
  double bottom = 0;
  return per_session_row(
      in, [&](const Run& session) { bottom = in.low[session.begin]; },
      [&](const Run&, std::size_t i) {
        return bottom = std::min(bottom, in.low[i]), ratio(in.close[i] - bottom, in.scale[i]);
      });
}

Series session_vwap_distance(In in) {
  double paid = 0, traded = 0;
  return per_session_row(
      in, [&](const Run&) { paid = traded = 0; },
      [&](const Run&, std::size_t i) {
        paid += in.volume[i] * typical_price(in, i);
        traded += in.volume[i];
        return traded > 0 ? ratio(in.close[i] - paid / traded, in.scale[i]) : 0;
      });
}

Series session_gap(In in) {
  return per_session_row(
      in, [](const Run&) {},
      [&](const Run& session, std::size_t i) {
        if (in.run_starts[session.begin]) return 0.0;
        return ratio(in.open[session.begin] - in.close[session.begin - 1], in.scale[i]);
      });
}

/// Sine or cosine of the time within a period that starts at the epoch.
Compute clock(std::int64_t period, double (*wave)(double)) {
  return [=](In in) {
    return per_row(in, [&](std::size_t i) {
      const std::int64_t within = ((in.ts[i] % period) + period) % period;
      return wave(2 * std::numbers::pi * static_cast<double>(within) / static_cast<double>(period));
    });
  };
}
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }

void add_price_features(std::vector<Feature>& list) {
  for (const std::size_t n : {1, 2, 5, 10, 15, 30, 60, 120, 240})
    list.push_back(
        {{fmt::format("return_{}", n), fmt::format("change of the close over {} rows, per square root of rows", n)},
         return_over(n)});
  for (const std::size_t n : {5, 15, 60})
    list.push_back({{fmt::format("volatility_{}", n), fmt::format("root mean square change of the last {} rows", n)},
                    volatility(n)});
  list.push_back({{"volatility_ratio_5_60", "volatility of 5 rows over that of 60"}, volatility_ratio(5, 60)});
  list.push_back({{"volatility_ratio_15_240", "volatility of 15 rows over that of 240"}, volatility_ratio(15, 240)});
  list.push_back(
      {{"volatility_regime", "mean true range of 240 rows over that of the contract so far"}, volatility_regime});
  for (const std::size_t n : {10, 30, 120})
    list.push_back(
        {{fmt::format("efficiency_{}", n), fmt::format("net move of {} rows over the way walked, 0 to 1", n)},
         efficiency(n)});
  for (const int n : {14, 60})
    list.push_back(
        {{fmt::format("rsi_{}", n), fmt::format("Wilder's relative strength index over {} rows, -1 to 1", n)}, rsi(n)});
  list.push_back({{"autocorrelation_30", "correlation of a change with the one before, 30 rows"}, autocorrelation(30)});
  list.push_back({{"up_share_20", "rows up less rows down, share of the last 20"}, up_share(20)});
}

void add_bar_features(std::vector<Feature>& list) {
  list.push_back({{"bar_body", "close less open of the bar"},
                  scaled([](In in, std::size_t i) { return in.close[i] - in.open[i]; })});
  list.push_back(
      {{"bar_range", "high less low of the bar"}, scaled([](In in, std::size_t i) { return in.high[i] - in.low[i]; })});
  list.push_back({{"upper_shadow", "high less the higher of open and close"},
                  scaled([](In in, std::size_t i) { return in.high[i] - std::max(in.open[i], in.close[i]); })});
  list.push_back({{"lower_shadow", "the lower of open and close less low"},
                  scaled([](In in, std::size_t i) { return std::min(in.open[i], in.close[i]) - in.low[i]; })});
  list.push_back({{"close_location", "where in the bar it closed, -1 low to 1 high"},
                  [](In in) { return per_row(in, [&](std::size_t i) { return close_location(in, i); }); }});
  list.push_back({{"open_gap", "open less the close before"},
                  scaled([](In in, std::size_t i) { return in.run_starts[i] ? 0 : in.open[i] - in.close[i - 1]; })});
  for (const std::size_t n : {15, 60, 240})
    list.push_back(
        {{fmt::format("range_position_{}", n), fmt::format("where in the range of {} rows it closed, -1 to 1", n)},
         range_position(n)});
  for (const std::size_t n : {10, 30, 60, 240})
    list.push_back({{fmt::format("average_distance_{}", n), fmt::format("close less its mean over {} rows", n)},
                    average_distance(n)});
  list.push_back({{"macd", "exponential mean of 12 rows less that of 26"}, macd});
  list.push_back({{"macd_histogram", "macd less its exponential mean of 9 rows"}, macd_histogram});
}

void add_volume_features(std::vector<Feature>& list) {
  for (const std::size_t n : {30, 240})
    list.push_back(
        {{fmt::format("volume_z_{}", n), fmt::format("log volume, deviations from its mean over {} rows", n)},
         volume_z(n)});
  list.push_back({{"volume_change", "log volume less that of the row before"}, volume_change});
  list.push_back({{"volume_trend_5_60", "mean log volume of 5 rows less that of 60"}, volume_trend});
  for (const std::size_t n : {5, 15, 60})
    list.push_back(
        {{fmt::format("volume_imbalance_{}", n), fmt::format("volume of up rows less down rows, share of {} rows", n)},
         volume_imbalance(n)});
  list.push_back({{"money_flow_20", "close location weighted by volume, 20 rows"}, money_flow});
  list.push_back({{"vwap_offset_60", "volume-weighted price of 60 rows less their plain mean"}, vwap_offset});
}

void add_session_features(std::vector<Feature>& list) {
  list.push_back(
      {{"minutes_since_open", "minutes since the session's first bar began, at most 1440"}, minutes_since_open});
  list.push_back({{"session_open_distance", "close less the session's first open"}, session_open_distance});
  list.push_back({{"session_high_distance", "the session's high so far less close"}, session_high_distance});
  list.push_back({{"session_low_distance", "close less the session's low so far"}, session_low_distance});
  list.push_back(
      {{"session_vwap_distance", "close less the session's volume-weighted price so far"}, session_vwap_distance});
  list.push_back({{"session_gap", "the session's first open less the close of the session before"}, session_gap});
  list.push_back({{"time_of_day_sin", "sine of the UTC time of day"}, clock(ns_per_day, sine)});
  list.push_back({{"time_of_day_cos", "cosine of the UTC time of day"}, clock(ns_per_day, cosine)});
  list.push_back({{"time_of_week_sin", "sine of the UTC time of the week"}, clock(7 * ns_per_day, sine)});
  list.push_back({{"time_of_week_cos", "cosine of the UTC time of the week"}, clock(7 * ns_per_day, cosine)});
}

}  // namespace

const std::vector<Feature>& all_features() {
  static const std::vector<Feature> features = [] {
    std::vector<Feature> list;
    add_price_features(list);
    add_bar_features(list);
    add_volume_features(list);
    add_session_features(list);
    return list;
  }();
  return features;
}

const std::vector<FeatureInfo>& feature_catalogue() {
  static const std::vector<FeatureInfo> catalogue = [] {
    std::vector<FeatureInfo> list;
    for (const Feature& feature : all_features()) list.push_back(feature.info);
    return list;
  }();
  return catalogue;
}

}  // namespace foxhunt::market
