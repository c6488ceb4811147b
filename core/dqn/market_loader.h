#pragma once
#include <string>

#include "core/dqn/foresight.h"
#include "core/dqn/market_tables.h"
#include "core/market/book_model.h"
#include "core/profile/profile.h"

namespace foxhunt::dqn {

/// Everything between a market file and the tables that kernels read.
struct LoadedMarket {
  std::string source;  ///< file or folder
  market::Contract contract;
  market::Tape tape;  ///< without the rows of its bars, which the features stand for
  market::Splits splits;
  market::FeatureTable features;
  MarketTables tables;
  std::string book_model;  ///< checksum of the model behind features.alpha; "": none
  Foresight foresight;     ///< of that model; of a market that is not divided it says nothing

  /// Lines for a person: rows, sessions, splits; contract and rejects; the reader's notes; the foresight's warning.
  std::string report() const;
};

/// Reads data.path (or the bundled futures-baseline) as the profile says. book_model: the one that features.alpha
/// names; none where that is empty. Throws Error(data), also when features.alpha is to be computed of data without
/// books.
LoadedMarket load_market(const profile::Profile& profile, market::BookModel* book_model = nullptr);
/// The same from bars that are here already.
LoadedMarket make_market(market::Bars bars, const profile::Profile& profile);

/// The same for a model that is there already: its features, standardised by its numbers, and no training split, starts
/// or lanes. `divided` false: the market is one whole, and its splits are empty. Throws Error(data), also when the
/// market lacks features of the model, naming them.
LoadedMarket load_market(const profile::Profile& profile, const market::Standardisation& model, bool divided,
                         market::BookModel* book_model = nullptr);

}  // namespace foxhunt::dqn
