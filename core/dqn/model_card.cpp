#include "core/dqn/model_card.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/profile/printer.h"
#include "core/run/json.h"

namespace foxhunt::dqn {
namespace {

constexpr int card_version = 1;

[[noreturn]] void refuse(const std::string& where, const std::string& reason) {
  throw Error(
      ExitCode::storage,
      fmt::format("{}: {}; expected a checkpoint of foxhunt-train that says what its model takes (one written by "
                  "an older version does not: train again)",
                  where, reason));
}

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

/// Throws std::invalid_argument for a card that no model has.
void check(const ModelCard& card) {
  const market::Standardisation& f = card.features;
  require(f.mean.size() == f.names.size() && f.deviation.size() == f.names.size() && !f.names.empty(),
          "a feature lacks its mean or deviation");
  require(std::set<std::string>(f.names.begin(), f.names.end()).size() == f.names.size(), "a feature comes twice");
  for (const double x : f.mean) require(std::isfinite(x), "a mean is not finite");
  for (const double x : f.deviation) require(std::isfinite(x) && x > 0, "a deviation is not above 0");
  require(card.clip > 0, "the clip is not above 0");
  require(card.actions() >= 2 && card.actions() <= max_actions, "it has too few or too many actions");
  require(card.atoms >= 2 && card.atoms <= max_atoms && card.v_min < card.v_max, "its support has no width");
  require(card.hidden.size() < max_layers, "it has too many layers");
  for (const std::int64_t width : card.hidden) require(width > 0 && width <= 1 << 16, "a layer's width is absurd");
  require(card.reward_scale > 0 && card.step_limit > 0, "its reward scale or step limit is not above 0");
}

nlohmann::ordered_json to_json(const market::Standardisation& features) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t f = 0; f < features.names.size(); ++f)
    list.push_back({{"name", features.names[f]}, {"mean", features.mean[f]}, {"deviation", features.deviation[f]}});
  return list;
}

market::Standardisation features_of(const nlohmann::json& list) {
  market::Standardisation features;
  for (const auto& feature : list) {
    features.names.push_back(feature.at("name").get<std::string>());
    features.mean.push_back(feature.at("mean").get<double>());
    features.deviation.push_back(feature.at("deviation").get<double>());
  }
  return features;
}

market::Contract contract_of(const nlohmann::json& json) {
  return {json.at("symbol"), json.at("tick_size"), json.at("multiplier"), json.at("commission"), json.at("calendar")};
}

ModelCard card_of(const nlohmann::json& json) {
  require(json.at("version") == card_version, "its card is of another version");
  ModelCard card;
  card.features = features_of(json.at("features"));
  card.clip = json.at("clip");
  require(json.at("portfolio").get<std::vector<std::string>>() == portfolio_names(),
          "it takes other numbers of the portfolio");
  json.at("positions").get_to(card.positions);
  const nlohmann::json& network = json.at("network");
  network.at("hidden").get_to(card.hidden);
  card.atoms = network.at("atoms");
  card.v_min = network.at("v_min");
  card.v_max = network.at("v_max");
  card.spectral_norm = network.at("spectral_norm");
  card.reward_scale = json.at("reward_scale");
  card.step_limit = json.at("step_limit");
  card.contract = contract_of(json.at("contract"));
  card.interval = json.at("interval_ns");
  card.book_model = json.value("book_model", "");
  card.trained_from = json.at("trained_from_ns");
  card.trained_to = json.at("trained_to_ns");
  check(card);
  return card;
}

}  // namespace

const std::vector<std::string>& portfolio_names() {
  static const std::vector<std::string> names = {"position",     "unrealised", "holding_time", "time_left",
                                                 "episode_gain", "drawdown",   "last_reward",  "exit_cost"};
  static_assert(portfolio_width == 8);
  return names;
}

nn::DenseNetwork ModelCard::network() const {
  return q_network(static_cast<int>(features.names.size()), hidden, actions(), atoms, spectral_norm);
}

ModelCard model_card(const profile::Profile& profile, const DqnConfig& config, const LoadedMarket& market) {
  const auto ts = [&](std::int64_t row) { return market.tape.ts[static_cast<std::size_t>(row)]; };
  ModelCard card;
  card.features = market::standardisation_of(market.features);
  card.clip = profile.features.clip;
  card.positions = config.positions;
  card.hidden = config.hidden;
  card.atoms = config.atoms;
  card.v_min = config.v_min;
  card.v_max = config.v_max;
  card.spectral_norm = config.learner.spectral_norm;
  card.reward_scale = config.environment.reward_scale;
  card.step_limit = config.environment.step_limit;
  card.contract = market.contract;
  card.interval = market.tape.bars.interval;
  card.book_model = market.book_model;
  card.trained_from = ts(market.splits.train.begin);
  card.trained_to = ts(market.splits.train.end - 1);
  return card;
}

void require_same_book_model(const ModelCard& card, const std::string& where, const profile::Profile& profile,
                             const std::string& book_model) {
  if (card.book_model == book_model) return;
  const auto shown = [](const std::string& sum) { return sum.empty() ? std::string("none") : "xxh64 " + sum; };
  throw Error(ExitCode::data,
              fmt::format("{}: its features come of another alpha model ({}) than features.alpha = \"{}\" names ({}); "
                          "put that checkpoint back, or name it with --set features.alpha=...",
                          where, shown(card.book_model), profile.features.alpha, shown(book_model)));
}

std::string card_text(const ModelCard& card) {
  nlohmann::ordered_json json;
  json["version"] = card_version;
  json["features"] = to_json(card.features);
  json["clip"] = card.clip;
  json["portfolio"] = portfolio_names();
  json["positions"] = card.positions;
  json["network"] = {{"hidden", card.hidden},
                     {"atoms", card.atoms},
                     {"v_min", card.v_min},
                     {"v_max", card.v_max},
                     {"spectral_norm", card.spectral_norm}};
  json["reward_scale"] = card.reward_scale;
  json["step_limit"] = card.step_limit;
  json["contract"] = {{"symbol", card.contract.symbol},
                      {"tick_size", card.contract.tick_size},
                      {"multiplier", card.contract.multiplier},
                      {"commission", card.contract.commission},
                      {"calendar", card.contract.calendar}};
  json["interval_ns"] = card.interval;
  if (!card.book_model.empty()) json["book_model"] = card.book_model;
  json["trained_from_ns"] = card.trained_from;
  json["trained_to_ns"] = card.trained_to;
  return run::json_text(json);
}

std::map<std::string, std::string> model_metadata(const ModelCard& card, const profile::Profile& profile) {
  return {{"model", card_text(card)}, {"profile_toml", profile::to_toml(profile)}};
}

ModelCard parse_model_card(const std::map<std::string, std::string>& metadata, const std::string& where) {
  const auto format = metadata.find("format");
  if (format != metadata.end() && format->second.starts_with("foxhunt-alpha"))
    throw Error(ExitCode::usage, where +
                                     ": an alpha model; expected an agent's checkpoint. How an alpha run did on its "
                                     "test split is in its gate.json and report.html");
  const auto found = metadata.find("model");
  if (found == metadata.end()) refuse(where, "it has no model card");
  try {
    return card_of(nlohmann::json::parse(found->second));
  } catch (const nlohmann::json::exception& error) {
    refuse(where, fmt::format("its model card cannot be read ({})", error.what()));
  } catch (const std::invalid_argument& error) {
    refuse(where, error.what());
  }
}

}  // namespace foxhunt::dqn
