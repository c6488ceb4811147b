#include "core/dqn/market_tables.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/kernels.h"

namespace foxhunt::dqn {
namespace {

using market::Split;
using market::Tape;

/// Rows after which nothing decided can be filled: ends of sessions, and the last row of each split, so that no episode
/// leaves its split.
std::vector<std::uint8_t> market_flags(const Tape& tape, const market::Splits& splits) {
  std::vector<std::uint8_t> flags(tape.rows());
  for (std::size_t i = 0; i < flags.size(); ++i)
    flags[i] = (tape.flags[i] & (market::last_of_session | market::roll)) ? market_last : 0;
  flags.back() = market_last;
  for (const Split* split : {&splits.train, &splits.validation, &splits.test})
    if (split->end > 0) flags[static_cast<std::size_t>(split->end) - 1] = market_last;
  return flags;
}

std::vector<std::int32_t> open_rows(const std::vector<std::uint8_t>& flags, const Split& split) {
  std::vector<std::int32_t> rows;
  for (std::int64_t i = split.begin; i < split.end; ++i)
    if (!(flags[static_cast<std::size_t>(i)] & market_last)) rows.push_back(static_cast<std::int32_t>(i));
  return rows;
}

void require_rows(const std::vector<std::int32_t>& rows, const char* split) {
  if (rows.empty())
    throw Error(ExitCode::data, std::string("the ") + split +
                                    " split holds no row that can be traded (every session in "
                                    "it has a single row); give more data or change data.train_fraction, "
                                    "data.validation_fraction or data.session_gap_minutes");
}

}  // namespace

MarketTables::Lanes session_lanes(const MarketTables& tables, const Split& split) {
  MarketTables::Lanes lanes;
  for (std::int64_t first = split.begin; first < split.end;) {
    std::int64_t last = first;
    while (!(tables.flags[static_cast<std::size_t>(last)] & market_last)) ++last;
    if (last > first) {
      lanes.start_rows.push_back(static_cast<std::int32_t>(first));
      lanes.steps.push_back(static_cast<int>(last - first));
      lanes.longest = std::max(lanes.longest, static_cast<int>(last - first + 1));
    }
    first = last + 1;
  }
  return lanes;
}

MarketTables make_market_columns(const Tape& tape, const market::FeatureTable& features, const market::Splits& splits,
                                 double slippage_ticks) {
  MarketTables m;
  m.rows = static_cast<int>(tape.rows());
  m.features = static_cast<int>(features.width());
  m.table = features.values;
  m.flags = market_flags(tape, splits);
  const double dollars = tape.contract.multiplier / static_cast<double>(market::price_scale);
  const double slippage = slippage_ticks * static_cast<double>(tape.contract.tick_size);
  for (std::vector<float>* column : {&m.open_gap, &m.hold_gap, &m.cost}) column->reserve(tape.rows());
  double squares = 0;
  std::int64_t counted = 0;
  for (std::size_t i = 0; i < tape.rows(); ++i) {
    const bool last = m.flags[i] & market_last;
    const std::int64_t next_mid = last ? tape.mid[i] : tape.mid[i + 1];
    const std::int64_t fill = last ? tape.mid[i] : tape.fill_mid[i];
    m.open_gap.push_back(static_cast<float>(dollars * static_cast<double>(fill - tape.mid[i])));
    m.hold_gap.push_back(static_cast<float>(dollars * static_cast<double>(next_mid - fill)));
    m.cost.push_back(
        static_cast<float>(dollars * (static_cast<double>(tape.half_spread[i]) + slippage) + tape.contract.commission));
    const auto row = static_cast<std::int64_t>(i);
    if (!last && row >= splits.train.begin && row < splits.train.end) {
      const double move = dollars * static_cast<double>(next_mid - tape.mid[i]);
      squares += move * move;
      ++counted;
    }
  }
  m.typical_move = counted ? std::sqrt(squares / static_cast<double>(counted)) : 0.0;
  return m;
}

MarketTables make_market_tables(const Tape& tape, const market::FeatureTable& features, const market::Splits& splits,
                                double slippage_ticks) {
  MarketTables m = make_market_columns(tape, features, splits, slippage_ticks);
  m.train_starts = open_rows(m.flags, splits.train);
  m.validation = session_lanes(m, splits.validation);
  m.test = session_lanes(m, splits.test);
  require_rows(m.train_starts, "train");
  require_rows(m.validation.start_rows, "validation");
  require_rows(m.test.start_rows, "test");
  return m;
}

void DeviceMarket::plan(Arena& arena, const MarketTables& market) {
  rows = market.rows;
  features = market.features;
  arena.plan("feature_table", market.table.size(), table);
  arena.plan("open_gap", market.open_gap.size(), open_gap);
  arena.plan("hold_gap", market.hold_gap.size(), hold_gap);
  arena.plan("cost", market.cost.size(), cost);
  arena.plan("market_flags", market.flags.size(), flags);
}

void DeviceMarket::upload(Device& device, const MarketTables& market) {
  device.upload(table, market.table);
  device.upload(open_gap, market.open_gap);
  device.upload(hold_gap, market.hold_gap);
  device.upload(cost, market.cost);
  device.upload(flags, market.flags);
}

}  // namespace foxhunt::dqn
