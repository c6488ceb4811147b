#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/market/tape.h"

namespace foxhunt::dqn {

/// The action, an index, that is taken at a tape row.
using Policy = std::function<std::int32_t(std::int64_t row)>;

/// A policy that learns nothing: what an agent has to beat.
struct Baseline {
  std::string name;
  Policy policy;
};

/// flat: never a position. buy_and_hold: the largest position, from the first row of each session to its end.
/// random: any action at every row, a function of seed and row. momentum: the largest or the smallest position by the
/// sign of the return over the last `momentum_rows` rows, known when it decides; flat where the session is younger.
/// `positions` are the actions' contracts, one of them 0; the tape must outlive the policies.
std::vector<Baseline> baselines(const market::Tape& tape, std::span<const float> positions, std::int64_t momentum_rows,
                                std::uint64_t seed);

}  // namespace foxhunt::dqn
