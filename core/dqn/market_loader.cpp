#include "core/dqn/market_loader.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "core/market/book_tape.h"
#include "core/market/civil_time.h"
#include "core/market/feature_cache.h"
#include "core/market/longer_bars.h"
#include "core/market/reader.h"
#include "core/profile/printer.h"
#include "core/profile/schema.h"
#include "core/run/market_input.h"

namespace foxhunt::dqn {
namespace {

/// All of a profile that the rows of a market and their features depend on, and a little more; as TOML.
std::string cache_settings(const profile::Profile& p) {
  std::string text;
  for (const profile::Key& key : profile::schema()) {
    const auto section = profile::section_of(key.name);
    const bool shapes_rows = section == "data" || section == "contract" || section == "features" ||
                             key.name == "training.gpu_timesteps_per_episode";  // moves a split of too few rows
    const bool elsewhere = key.name == "data.path" || key.name == "data.cache" ||
                           key.name == "contract.slippage_ticks" ||
                           key.name == "features.alpha";  // what the checkpoint holds counts, not where it lies
    if (shapes_rows && !elsewhere)
      text += fmt::format("{} = {}\n", key.name, profile::toml_text(profile::value_of(key, p)));
  }
  return text;
}

market::Splits splits_of(const market::Tape& tape, const profile::Profile& p) {
  return market::make_splits(tape, p.data.train_fraction, p.data.validation_fraction, p.data.purge_rows,
                             p.training.gpu_timesteps_per_episode + 1);
}

market::TapeOptions tape_options(const profile::Profile& p) {
  return {.session_gap = p.data.session_gap_minutes * market::ns_per_minute,
          .calendar = p.data.calendar,
          .spread_ticks = p.contract.spread_ticks};
}

market::Tape tape_of(market::Bars bars, const profile::Profile& p) {
  if (!p.features.alpha.empty())
    throw Error(ExitCode::data, fmt::format("{}: it holds no order books, of which features.alpha = \"{}\" is "
                                            "computed; give mbp-10 or mbo data, or leave features.alpha empty",
                                            bars.source, p.features.alpha));
  const market::Contract contract = run::contract_of(p.contract, bars);
  market::Tape tape = market::make_tape(std::move(bars), contract, tape_options(p));
  if (p.data.resample_minutes == 0) return tape;
  return market::resample(tape, p.data.resample_minutes * market::ns_per_minute);
}

market::Tape tape_of(const market::Books& books, const profile::Profile& p, market::BookModel* model) {
  const market::Contract contract = run::contract_of(p.contract, books);
  const market::BookTapeOptions options{.tape = tape_options(p), .latency = p.data.latency_us * 1'000};
  if (!model) return market::make_book_tape(books, contract, options);
  return market::make_book_tape(books, contract, options, model->columns(books, contract, options.tape));
}

/// Whatever the source holds: bars, books, or trades, which become bars.
market::Tape read_tape(const std::filesystem::path& source, const profile::Profile& p, market::BookModel* model) {
  const market::ReadOptions options = run::read_options(p.data);
  switch (market::market_content_of(source, options)) {
    case market::MarketContent::books:
      if (p.data.resample_minutes > 0)
        throw Error(ExitCode::usage,
                    fmt::format("data.resample_minutes = {} puts bars into longer ones, but {} holds books; set it to "
                                "0, or give bars or trades",
                                p.data.resample_minutes, source.string()));
      return tape_of(market::read_books(source, options), p, model);
    case market::MarketContent::trades:
      return tape_of(market::bars_of_trades(market::read_trades(source, options),
                                            p.data.trade_bar_seconds * market::ns_per_second),
                     p);
    default:
      return tape_of(market::read_bars(source, options), p);
  }
}

market::PreparedMarket prepare(market::Tape tape, const profile::Profile& p, const market::Standardisation* model) {
  market::FeatureTable features =
      model ? market::make_features(tape, *model, p.features.clip, p.features.timeframes)
            : market::make_features(tape, splits_of(tape, p).train, p.features.clip, p.features.timeframes);
  tape.bars = market::without_rows(std::move(tape.bars));
  return {std::move(tape), std::move(features)};
}

/// The numbers of a standardisation, for the key of what was made with them.
std::string text_of(const market::Standardisation& model) {
  std::string text;
  for (std::size_t f = 0; f < model.names.size(); ++f)
    text += fmt::format("{} = {} {}\n", model.names[f], model.mean[f], model.deviation[f]);
  return text;
}

/// From the cache or from the source; standardised by the model, if one is given, else by the training split.
market::PreparedMarket read_market(const profile::Profile& p, const market::Standardisation* model,
                                   market::BookModel* book_model) {
  const std::filesystem::path source = run::market_source(p);
  if (p.features.alpha.empty() != (book_model == nullptr))
    throw Error(ExitCode::usage,
                fmt::format("features.alpha = \"{}\", but {} alpha model was opened to read {}; open the one that it "
                            "names, or none where it is empty",
                            p.features.alpha, book_model ? "an" : "no", source.string()));
  market::FeatureCache cache(market::cache_folder(p.data.cache), source,
                             cache_settings(p) + (model ? text_of(*model) : "") +
                                 (book_model ? "features.alpha: " + book_model->identity() : ""));
  auto prepared = cache.read();
  if (!prepared) {
    prepared = prepare(read_tape(source, p, book_model), p, model);
    cache.write(prepared->tape, prepared->features);
  }
  if (!cache.problem().empty()) spdlog::warn("{}", cache.problem());
  return std::move(*prepared);
}

LoadedMarket loaded(market::PreparedMarket prepared, std::string source, const market::BookModel* book_model) {
  LoadedMarket m;
  m.source = std::move(source);
  if (book_model) m.book_model = book_model->checksum();
  m.contract = prepared.tape.contract;
  m.tape = std::move(prepared.tape);
  m.features = std::move(prepared.features);
  return m;
}

void divide(LoadedMarket& m, const profile::Profile& p, const market::BookModel* book_model) {
  m.splits = splits_of(m.tape, p);
  if (book_model) m.foresight = foresight_of(*book_model, m.tape, m.splits);
}

LoadedMarket with_tables(LoadedMarket m, const profile::Profile& p, const market::BookModel* book_model) {
  divide(m, p, book_model);
  m.tables = make_market_tables(m.tape, m.features, m.splits, p.contract.slippage_ticks);
  return m;
}

}  // namespace

LoadedMarket make_market(market::Bars bars, const profile::Profile& p) {
  market::PreparedMarket prepared = prepare(tape_of(std::move(bars), p), p, nullptr);
  const std::string source = prepared.tape.bars.source;
  return with_tables(loaded(std::move(prepared), source, nullptr), p, nullptr);
}

LoadedMarket load_market(const profile::Profile& p, market::BookModel* book_model) {
  return with_tables(loaded(read_market(p, nullptr, book_model), run::market_source(p).string(), book_model), p,
                     book_model);
}

LoadedMarket load_market(const profile::Profile& p, const market::Standardisation& model, bool divided,
                         market::BookModel* book_model) {
  LoadedMarket m = loaded(read_market(p, &model, book_model), run::market_source(p).string(), book_model);
  if (divided) divide(m, p, book_model);
  m.tables = make_market_columns(m.tape, m.features, m.splits, p.contract.slippage_ticks);
  return m;
}

std::string LoadedMarket::report() const {
  std::string rejected, notes;
  for (const auto& [reason, count] : tape.bars.rejects) rejected += fmt::format(", {} x {}", count, reason);
  for (const std::string& note : tape.bars.notes) notes += "\nnote: " + note;
  if (!foresight.warning.empty()) notes += "\nwarning: " + foresight.warning;
  return fmt::format(
      "data: {}: {} rows, {} sessions; train {}, validation {} ({} lanes), test {} ({} lanes)\n"
      "contract: {}, tick {} points, ${}/point, ${}/side; features: {}{}{}{}",
      source, tape.rows(), tape.session.back() + 1, splits.train.rows(), splits.validation.rows(),
      tables.validation.start_rows.size(), splits.test.rows(), tables.test.start_rows.size(),
      contract.symbol.empty() ? "(default)" : contract.symbol,
      static_cast<double>(contract.tick_size) / static_cast<double>(market::price_scale), contract.multiplier,
      contract.commission, features.width(), book_model.empty() ? "" : ", some by the alpha model " + book_model,
      rejected.empty() ? "" : "; left out" + rejected.substr(1), notes);
}

}  // namespace foxhunt::dqn
