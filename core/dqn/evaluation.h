#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/dqn/model.h"
#include "core/dqn/performance.h"
#include "core/run/market_input.h"

namespace foxhunt::dqn {

struct EvaluationOptions {
  std::string data;   ///< market file or folder; empty: what the model was trained on
  std::string split;  ///< train, validation, test or all; empty: test of its own data, all of other data
  run::OpenBookModel open_book_model = run::no_book_model;
};

/// One session of the agent.
struct SessionResult {
  std::int64_t begin = 0, end = 0;  ///< UTC ns of the first row and of the last
  Performance performance;
};

/// A round trip with the times of its rows, UTC ns.
struct Trade {
  RoundTrip trip;
  std::int64_t entry = 0, exit = 0;
};

/// How a model does on a market, by its greedy policy.
struct Evaluation {
  std::string source, split, device;
  std::string contract;             ///< symbol
  std::int64_t rows = 0;            ///< of the split
  std::int64_t begin = 0, end = 0;  ///< UTC ns of its first row and of its last
  Performance agent;
  std::vector<std::pair<std::string, Performance>> baselines;
  std::vector<SessionResult> sessions;
  std::vector<Trade> trades;
  std::vector<std::string> notes;  ///< what a reader should know, a line each
};

/// Runs the model's policy and the baselines through every session of a split, features standardised by the model's own
/// numbers. The same model, data and kind of device give the same bits; on its own test split, those of the training
/// run. Throws Error(data) for data that lacks features of the model, whose rows span another time, or that is no
/// longer what the model was trained on where its own is asked for, and for another alpha model than the one that made
/// the model's features; Error(numerics) when the policy meets a non-finite
/// value.
Evaluation evaluate(const Model& model, const EvaluationOptions& options);

/// For programs: model, market, the agent's and the baselines' results (README, "A run"), sessions.
nlohmann::ordered_json evaluation_json(const Evaluation& evaluation, const Model& model);
/// For a person: the same without the sessions, as a table.
std::string evaluation_text(const Evaluation& evaluation, const Model& model);
/// One line a session. Dollars; numbers read back to the same bits.
std::string sessions_csv(const Evaluation& evaluation);
/// One line a round trip; their net column adds up to the agent's net.
std::string trades_csv(const Evaluation& evaluation);

}  // namespace foxhunt::dqn
