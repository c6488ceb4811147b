#include "core/dqn/baselines.h"

#include <algorithm>

namespace foxhunt::dqn {
namespace {

/// SplitMix64 (Steele et al. 2014) of one word: a random number that depends on nothing else.
std::uint64_t split_mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

}  // namespace

std::vector<Baseline> baselines(const market::Tape& tape, std::span<const float> positions, std::int64_t momentum_rows,
                                std::uint64_t seed) {
  const auto index = [&](auto at) { return static_cast<std::int32_t>(at - positions.begin()); };
  const std::int32_t flat = index(std::find(positions.begin(), positions.end(), 0.0f));
  const auto [lowest, highest] = std::minmax_element(positions.begin(), positions.end());
  const std::int32_t down = index(lowest), up = index(highest);
  const std::uint64_t actions = positions.size();
  const auto random = [=](std::int64_t row) {
    const std::uint64_t word = split_mix(split_mix(seed) ^ static_cast<std::uint64_t>(row));
    return static_cast<std::int32_t>((word >> 32) * actions >> 32);
  };
  const auto momentum = [=, &tape](std::int64_t row) {
    const auto now = static_cast<std::size_t>(row), before = static_cast<std::size_t>(row - momentum_rows);
    if (row < momentum_rows || tape.session[before] != tape.session[now]) return flat;
    return tape.mid[now] > tape.mid[before] ? up : tape.mid[now] < tape.mid[before] ? down : flat;
  };
  return {{"flat", [=](std::int64_t) { return flat; }},
          {"buy_and_hold", [=](std::int64_t) { return up; }},
          {"random", random},
          {"momentum", momentum}};
}

}  // namespace foxhunt::dqn
