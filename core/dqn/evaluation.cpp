#include "core/dqn/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/dqn/evaluator.h"
#include "core/dqn/training_run.h"
#include "core/market/civil_time.h"

namespace foxhunt::dqn {
namespace {

/// Throws unless the market standardises to what the model was trained on. Of the columns of a book model, whose
/// checksum has been compared, only the names count: another kind of device rounds their numbers differently.
void require_unchanged(const LoadedMarket& market, const Model& model, const std::vector<std::string>& of_book_model) {
  const market::Standardisation now = market::standardisation_of(market.features);
  const market::Standardisation& then = model.card.features;
  if (now == then) return;
  const auto differs = [&](std::size_t f) {
    if (now.names[f] != then.names[f]) return true;
    if (std::find(of_book_model.begin(), of_book_model.end(), now.names[f]) != of_book_model.end()) return false;
    return now.mean[f] != then.mean[f] || now.deviation[f] != then.deviation[f];
  };
  std::size_t f = 0;
  while (f < std::min(now.names.size(), then.names.size()) && !differs(f)) ++f;
  if (f == now.names.size() && f == then.names.size()) return;
  const std::string what = f < then.names.size() ? then.names[f] : now.names[f];
  throw Error(
      ExitCode::data,
      fmt::format("{}: no longer what {} was trained on (first difference: feature {} of the training split), so "
                  "that its splits are not those of the training; name the file with --data to evaluate on it with "
                  "the model's own normalisation",
                  market.source, model.file.string(), what));
}

void require_interval(const LoadedMarket& market, const Model& model) {
  const std::int64_t is = market.tape.bars.interval, wanted = model.card.interval;
  if (is == wanted) return;
  const auto text = [](std::int64_t ns) {
    return ns == 0 ? std::string("books") : fmt::format("bars of {} s", ns / market::ns_per_second);
  };
  throw Error(ExitCode::data,
              fmt::format("{}: holds {}, but the model's features are those of {}; give such data, or set "
                          "data.resample_minutes",
                          market.source, text(is), text(wanted)));
}

market::Split whole(const LoadedMarket& market) { return {0, static_cast<std::int64_t>(market.tape.rows())}; }

market::Split rows_of(const LoadedMarket& market, const std::string& split) {
  if (split == "all") return whole(market);
  if (split == "train") return market.splits.train;
  return split == "validation" ? market.splits.validation : market.splits.test;
}

/// The market as the model sees it, and the tables of the split that is asked for.
LoadedMarket market_for(const Model& model, const profile::Profile& profile, bool own, bool divided,
                        market::BookModel* book_model) {
  require_same_book_model(model.card, model.file.string(), profile, book_model ? book_model->checksum() : "");
  if (!own) {
    LoadedMarket market = load_market(profile, model.card.features, divided, book_model);
    require_interval(market, model);
    return market;
  }
  LoadedMarket market = load_market(profile, book_model);
  require_unchanged(market, model, book_model ? book_model->names() : std::vector<std::string>{});
  if (!divided) market.tables = make_market_columns(market.tape, market.features, {}, profile.contract.slippage_ticks);
  return market;
}

/// A model on a device, and the evaluator through which it is asked.
class DeviceModel {
 public:
  DeviceModel(Device& device, const DqnConfig& config, const LoadedMarket& market, const MarketTables::Lanes& lanes)
      : device_(device), agent_(device, config), evaluator_(device, agent_, lanes), arena_(device), market_(market) {
    agent_.learner().plan(arena_);  // without replay and batches: nothing is trained
    tables_.plan(arena_, market.tables);
    evaluator_.plan(arena_);
  }

  Evaluator& start(const LearnerState& learner, std::size_t memory_limit) {
    arena_.commit(memory_limit);
    tables_.upload(device_, market_.tables);
    upload_learner(device_, agent_, learner);
    evaluator_.initialise(tables_);
    return evaluator_;
  }

 private:
  Device& device_;
  Agent agent_;
  DeviceMarket tables_;
  Evaluator evaluator_;
  Arena arena_;
  const LoadedMarket& market_;
};

/// The profile's numbers for this market, but rewards and portfolio scaled as the model knows them.
DqnConfig config_for(const Model& model, const profile::Profile& profile, const LoadedMarket& market) {
  DqnConfig config = make_config(profile, market.tables);
  config.environment.reward_scale = model.card.reward_scale;
  if (config.positions != model.card.positions || config.environment.step_limit != model.card.step_limit)
    throw Error(ExitCode::usage,
                fmt::format("{}: environment.actions, environment.max_contracts and "
                            "training.gpu_timesteps_per_episode are part of the model; leave them as they "
                            "were trained",
                            model.file.string()));
  return config;
}

std::vector<std::string> notes_on(const Evaluation& e, const Model& model, const LoadedMarket& market) {
  std::vector<std::string> notes = market.tape.bars.notes;
  const ModelCard& card = model.card;
  if (e.contract != card.contract.symbol)
    notes.push_back(fmt::format("trained on {}, evaluated on {}", card.contract.symbol, e.contract));
  if (e.split != "train" && !market.foresight.warning.empty()) notes.push_back(market.foresight.warning);
  if (e.split != "train" && e.begin <= card.trained_to && e.end >= card.trained_from)
    notes.push_back(fmt::format("the model was trained on {} to {} UTC, which these rows meet",
                                market::format_utc(card.trained_from), market::format_utc(card.trained_to)));
  return notes;
}

void add_details(Evaluation& e, std::span<const SessionRecord> records, const Account& account) {
  const auto ts = [&](std::int64_t row) { return account.tape.ts[static_cast<std::size_t>(row)]; };
  std::vector<RoundTrip> trips;
  e.agent = measure(records, account, &trips);
  for (const RoundTrip& trip : trips) e.trades.push_back({trip, ts(trip.entry_row), ts(trip.exit_row)});
  for (const SessionRecord& record : records)
    e.sessions.push_back({ts(record.first_row), ts(record.first_row + static_cast<std::int64_t>(record.net.size())),
                          measure(std::span(&record, 1), account)});
}

}  // namespace

Evaluation evaluate(const Model& model, const EvaluationOptions& options) {
  profile::Profile profile = model.profile;
  const bool own = options.data.empty();
  if (!own) profile.data.path = options.data;
  Evaluation e;
  e.split = !options.split.empty() ? options.split : own ? "test" : "all";
  const std::unique_ptr<Device> device = open_device(profile.device.device, run::device_options(profile));
  e.device = device->description();
  const std::unique_ptr<market::BookModel> book_model = options.open_book_model(*device, profile);
  const LoadedMarket market = market_for(model, profile, own, e.split != "all", book_model.get());
  const market::Split rows = rows_of(market, e.split);
  const MarketTables::Lanes lanes = session_lanes(market.tables, rows);
  if (lanes.start_rows.empty())
    throw Error(ExitCode::data,
                fmt::format("{}: the split '{}' holds no row that can be traded; choose another --split", market.source,
                            e.split));
  const auto ts = [&](std::int64_t row) { return market.tape.ts[static_cast<std::size_t>(row)]; };
  e.source = market.source;
  e.contract = market.contract.symbol;
  e.rows = rows.rows();
  e.begin = ts(rows.begin);
  e.end = ts(rows.end - 1);
  e.notes = notes_on(e, model, market);

  const DqnConfig config = config_for(model, profile, market);
  const Account account{market.tape,
                        market.tables,
                        config.positions,
                        profile.environment.max_contracts,
                        profile.environment.starting_capital,
                        periods_per_year(market.tape)};
  DeviceModel on_device(*device, config, market, lanes);
  Evaluator& evaluator = on_device.start(model.learner, static_cast<std::size_t>(profile.device.memory_limit) << 20);
  add_details(e, evaluator.run(), account);
  if (evaluator.nonfinite() > 0)
    throw Error(ExitCode::numerics, fmt::format("{}: the policy met {} non-finite values on {}; the model is of no use",
                                                model.file.string(), evaluator.nonfinite(), market.source));
  for (const Baseline& baseline :
       baselines(market.tape, config.positions, profile.evaluation.momentum_rows, config.seed))
    e.baselines.emplace_back(baseline.name, measure(evaluator.run(baseline.policy), account));
  return e;
}

}  // namespace foxhunt::dqn
