#include "core/dqn/market_loader.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/market/reader.h"
#include "core/profile/resources.h"

namespace foxhunt::dqn {
namespace {

market::Contract contract_of(const profile::Profile::Contract& wanted, const market::Bars& bars) {
  std::string symbol = wanted.symbol;
  if (symbol.empty() && !bars.symbols.empty() && !bars.instrument.empty()) {
    const auto found = bars.symbols.find(bars.instrument.front());
    symbol = found != bars.symbols.end() ? found->second : bars.symbols.begin()->second;
  }
  market::Contract contract = market::contract_for(symbol);
  if (wanted.tick_size)
    contract.tick_size = static_cast<std::int64_t>(*wanted.tick_size * static_cast<double>(market::price_scale) + 0.5);
  if (wanted.multiplier) contract.multiplier = *wanted.multiplier;
  if (wanted.commission) contract.commission = *wanted.commission;
  return contract;
}

/// test_data/futures-baseline; or, where FOXHUNT_TEST_DATA names a folder of market files itself, that folder.
std::filesystem::path bundled_data() {
  const std::filesystem::path folder = find_resource_dir("test_data"), baseline = folder / "futures-baseline";
  return std::filesystem::exists(baseline) ? baseline : folder;
}

}  // namespace

LoadedMarket make_market(market::Bars bars, const profile::Profile& p) {
  LoadedMarket m;
  m.source = bars.source;
  m.contract = contract_of(p.contract, bars);
  market::TapeOptions options;
  options.session_gap = p.data.session_gap_minutes * 60'000'000'000;
  m.tape = market::make_tape(std::move(bars), m.contract, options);
  m.splits = market::make_splits(m.tape, p.data.train_fraction, p.data.validation_fraction, p.data.purge_rows,
                                 p.training.gpu_timesteps_per_episode + 1);
  m.features = market::make_features(m.tape, m.splits.train, p.features.clip);
  m.tables = make_market_tables(m.tape, m.features, m.splits, p.contract.slippage_ticks);
  return m;
}

LoadedMarket load_market(const profile::Profile& p) {
  const std::filesystem::path source = p.data.path.empty() ? bundled_data() : std::filesystem::path(p.data.path);
  LoadedMarket m = make_market(market::read_bars(source), p);
  m.source = source.string();
  return m;
}

std::string LoadedMarket::report() const {
  std::string rejected;
  for (const auto& [reason, count] : tape.bars.rejects) rejected += fmt::format(", {} x {}", count, reason);
  return fmt::format(
      "data: {}: {} rows, {} sessions; train {}, validation {} ({} lanes), test {} ({} lanes)\n"
      "contract: {}, tick {} points, ${}/point, ${}/side; features: {}{}",
      source, tape.rows(), tape.session.back() + 1, splits.train.rows(), splits.validation.rows(),
      tables.validation.start_rows.size(), splits.test.rows(), tables.test.start_rows.size(),
      contract.symbol.empty() ? "(default)" : contract.symbol,
      static_cast<double>(contract.tick_size) / static_cast<double>(market::price_scale), contract.multiplier,
      contract.commission, features.width(), rejected.empty() ? "" : "; left out" + rejected.substr(1));
}

}  // namespace foxhunt::dqn
