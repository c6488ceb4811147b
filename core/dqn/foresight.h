#pragma once
#include <optional>
#include <string>

#include "core/market/book_model.h"
#include "core/market/tape.h"

namespace foxhunt::dqn {

/// What the model behind an agent's features knows of the rows that the agent is judged on.
struct Foresight {
  std::optional<bool> saw_test;  ///< nothing: the model's checkpoint does not say
  std::string warning;           ///< one line; "": there is nothing to warn of
};

/// Times alone decide: instruments of one market move together, and a model of a later time is none that the agent
/// could have had. The test split is compared with the rows that the model learned from and with those that it was
/// chosen by, the validation split, by which the agent is chosen itself, with the former alone. No split is empty.
Foresight foresight_of(const market::BookModel& model, const market::Tape& tape, const market::Splits& splits);

}  // namespace foxhunt::dqn
