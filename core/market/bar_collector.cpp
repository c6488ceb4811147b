#include "core/market/bar_collector.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "core/market/instrument_choice.h"

namespace foxhunt::market {
namespace {

/// Applies f to every column of a Bars.
template <class F>
void each_column(Bars& bars, F f) {
  f(bars.ts_open), f(bars.open), f(bars.high), f(bars.low), f(bars.close), f(bars.volume), f(bars.instrument);
  for (ExtraColumn& column : bars.extra) f(column.values);
}

void sort_by_time(Bars& bars) {
  if (std::is_sorted(bars.ts_open.begin(), bars.ts_open.end())) return;
  std::vector<std::size_t> order(bars.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return bars.ts_open[a] < bars.ts_open[b]; });
  each_column(bars, [&](auto& column) {
    auto sorted = column;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
    column = std::move(sorted);
  });
}

/// Drops rows that are not kept and counts them.
void keep_only(Bars& bars, const std::vector<char>& keep, const char* reason) {
  const auto dropped = std::count(keep.begin(), keep.end(), char{0});
  if (dropped == 0) return;
  bars.rejects[reason] += dropped;
  each_column(bars, [&](auto& column) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < keep.size(); ++i)
      if (keep[i]) column[to++] = column[i];
    column.resize(to);
  });
}

void keep_wanted(Bars& bars, const BarCollector::Choice& choice) {
  if (choice.wanted.empty() || bars.size() == 0) return;
  InstrumentFilter filter(choice.wanted, choice.symbols);
  std::vector<char> keep(bars.size());
  for (std::size_t i = 0; i < bars.size(); ++i) keep[i] = filter.wants(bars.instrument[i]);
  filter.check_found(choice.source);
  keep_only(bars, keep, "not the chosen instrument");
}

void keep_front_contract(Bars& bars, const std::map<std::uint32_t, std::string>& symbols) {
  const auto volume = [&](std::size_t row) { return bars.volume[row]; };
  keep_only(bars, front_rows({bars.ts_open, bars.instrument, volume, symbols}), "not the front contract");
}

void drop_overlaps(Bars& bars) {
  std::vector<char> keep(bars.size(), 1);
  std::size_t last = 0;
  for (std::size_t i = 1; i < bars.size(); ++i) {
    keep[i] = bars.ts_open[i] - bars.ts_open[last] >= bars.interval;
    if (keep[i]) last = i;
  }
  keep_only(bars, keep, "starts before the bar before it has ended");
}

}  // namespace

void append(Bars& bars, const Bar& bar) {
  bars.ts_open.push_back(bar.ts_open);
  bars.open.push_back(bar.open);
  bars.high.push_back(bar.high);
  bars.low.push_back(bar.low);
  bars.close.push_back(bar.close);
  bars.volume.push_back(bar.volume);
  bars.instrument.push_back(bar.instrument);
}

Bar bar_at(const Bars& bars, std::size_t row) {
  return {bars.ts_open[row], bars.open[row],   bars.high[row],      bars.low[row],
          bars.close[row],   bars.volume[row], bars.instrument[row]};
}

std::int64_t most_common_step(const Bars& bars) {
  std::map<std::int64_t, std::int64_t> steps;
  for (std::size_t i = 1; i < bars.size(); ++i)
    if (bars.instrument[i] == bars.instrument[i - 1] && bars.ts_open[i] > bars.ts_open[i - 1])
      ++steps[bars.ts_open[i] - bars.ts_open[i - 1]];
  const auto most =
      std::max_element(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == steps.end() ? 0 : most->first;
}

const char* BarCollector::fault(const Bar& bar) {
  constexpr std::int64_t undefined = INT64_MAX;
  if (bar.open == undefined || bar.high == undefined || bar.low == undefined || bar.close == undefined)
    return "undefined price";
  if (std::max({bar.open, bar.high, bar.low, bar.close}) > largest_price ||
      std::min({bar.open, bar.high, bar.low, bar.close}) < -largest_price)
    return "price out of range";
  if (bar.open == 0 || bar.high == 0 || bar.low == 0 || bar.close == 0) return "zero price";
  if (bar.high < bar.low) return "high below low";
  if (std::max(bar.open, bar.close) > bar.high || std::min(bar.open, bar.close) < bar.low)
    return "open or close outside high and low";
  const auto [last, fresh] = last_time_.try_emplace(bar.instrument, bar.ts_open);
  if (fresh) return nullptr;
  if (bar.ts_open == last->second) return "duplicate time";
  if (bar.ts_open < last->second) return "time goes backwards";
  last->second = bar.ts_open;
  return nullptr;
}

void BarCollector::reserve(std::size_t rows) {
  each_column(bars_, [=](auto& column) { column.reserve(rows); });
}

void BarCollector::add(const Bar& bar, const double* extra) {
  if (const char* reason = fault(bar)) return reject(reason);
  append(bars_, bar);
  for (ExtraColumn& column : bars_.extra) column.values.push_back(*extra++);
}

Bars BarCollector::finish(std::int64_t interval, const Choice& choice) && {
  sort_by_time(bars_);
  keep_wanted(bars_, choice);
  keep_front_contract(bars_, choice.symbols);
  bars_.interval = interval ? interval : most_common_step(bars_);
  drop_overlaps(bars_);
  return std::move(bars_);
}

}  // namespace foxhunt::market
