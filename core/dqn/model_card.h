#pragma once
#include <map>
#include <string>

#include "core/dqn/config.h"
#include "core/dqn/market_loader.h"

namespace foxhunt::dqn {

/// What a network needs around it to be used alone: what goes in, what comes out, and what it was trained for.
struct ModelCard {
  market::Standardisation features;  ///< the first inputs, in order
  double clip = 0;                   ///< standardised features are clipped to [-clip, clip]
  std::vector<float> positions;      ///< contracts, by action
  std::vector<std::int64_t> hidden;  ///< widths of the hidden layers
  int atoms = 0;
  float v_min = 0, v_max = 0;  ///< support of the return, in rewards
  bool spectral_norm = false;
  float reward_scale = 0;                         ///< dollars per unit of reward; scales the portfolio inputs too
  int step_limit = 0;                             ///< steps of an episode; scales the portfolio inputs too
  market::Contract contract;                      ///< that it was trained on
  std::int64_t interval = 0;                      ///< ns that a bar spans; 0 for books
  std::string book_model;                         ///< LoadedMarket::book_model
  std::int64_t trained_from = 0, trained_to = 0;  ///< UTC ns of the first and the last row of the training split

  int actions() const { return static_cast<int>(positions.size()); }
  /// What make_config gives the trainer.
  nn::DenseNetwork network() const;
};

/// Names of the inputs after the features, [portfolio_width], each in [-1, 1] (write_portfolio in
/// cuda/environment.cu).
const std::vector<std::string>& portfolio_names();

ModelCard model_card(const profile::Profile& profile, const DqnConfig& config, const LoadedMarket& market);

/// A checkpoint's metadata: "model", the card as JSON, and "profile_toml", the resolved profile.
std::map<std::string, std::string> model_metadata(const ModelCard& card, const profile::Profile& profile);
/// The card of a checkpoint's metadata; `where` is the file. Throws Error(usage) for an alpha model, Error(storage)
/// when there is none or it makes no sense.
ModelCard parse_model_card(const std::map<std::string, std::string>& metadata, const std::string& where);
/// Throws Error(data) when features.alpha of the profile led to another checkpoint than the one behind the card's
/// features. `where`: file of the card; `book_model`: LoadedMarket::book_model.
void require_same_book_model(const ModelCard& card, const std::string& where, const profile::Profile& profile,
                             const std::string& book_model);
/// The card as the JSON text that model_metadata writes.
std::string card_text(const ModelCard& card);

}  // namespace foxhunt::dqn
