#pragma once
// A replay ring and the launches that sum, draw and update it.
#include "tests/cuda/kernel_fixture.h"

namespace foxhunt::test {

inline std::size_t groups_of(int leaves, int size) { return static_cast<std::size_t>((leaves + size - 1) / size); }

struct PrioritySums {
  std::vector<float> groups, chunks, supers;
  std::vector<std::uint32_t> counters;
};

inline PrioritySums sum_priorities(Device& device, const std::vector<float>& priority) {
  const int leaves = static_cast<int>(priority.size());
  const TestBuffer<float> leaf(device, priority);
  TestBuffer<float> groups(device, groups_of(leaves, 32)), chunks(device, groups_of(leaves, 1024)),
      supers(device, groups_of(leaves, 32768));
  TestBuffer<std::uint32_t> counters(device, counters_with({}));
  launch_guarded(device, sum_priorities_kernel, leaf, groups, chunks, supers, counters, leaves);
  REQUIRE(groups.unwritten() + chunks.unwritten() + supers.unwritten() == 0);
  return {groups.download(), chunks.download(), supers.download(), counters.download()};
}

/// Transitions drawn, one entry a draw.
struct Draws {
  std::vector<std::int32_t> index, next, action;
  std::vector<float> returns, discounts, priorities;
  std::vector<std::uint32_t> counters;
};

/// A ring of `length` steps for each of `episodes` slots: rewards, actions and flags all zero until they are set.
struct Ring {
  Ring(int episode_count, int step_count)
      : episodes(episode_count),
        length(step_count),
        priority(static_cast<std::size_t>(episode_count * step_count), 0.0f),
        reward(priority),
        action(priority.size(), 0),
        flags(priority.size(), 0) {}

  std::size_t leaf(int slot, int episode) const { return static_cast<std::size_t>(slot * episodes + episode); }

  Draws draw(Device& device, int batch, std::uint32_t iteration = 0) const {
    const PrioritySums sums = sum_priorities(device, priority);
    const TestBuffer<float> leaves(device, priority), groups(device, sums.groups), chunks(device, sums.chunks),
        supers(device, sums.supers), rewards(device, reward);
    const TestBuffer<std::int32_t> actions(device, action);
    const TestBuffer<std::uint8_t> ends(device, flags);
    const auto count = static_cast<std::size_t>(batch);
    TestBuffer<std::uint32_t> counters(
        device, counters_with(
                    {{counter_iteration, iteration}, {counter_min_priority, std::bit_cast<std::uint32_t>(INFINITY)}}));
    TestBuffer<std::int32_t> index(device, count), next(device, count), taken(device, count);
    TestBuffer<float> returns(device, count), discounts(device, count), priorities(device, count);
    launch_guarded(device, sample_transitions_kernel, leaves, groups, chunks, supers, rewards, actions, ends, counters,
                   index, next, taken, returns, discounts, priorities, batch, episodes, length, n_step, gamma, seed);
    REQUIRE(index.unwritten() + next.unwritten() + taken.unwritten() == 0);
    REQUIRE(returns.unwritten() + discounts.unwritten() + priorities.unwritten() == 0);
    return {index.download(),     next.download(),       taken.download(),   returns.download(),
            discounts.download(), priorities.download(), counters.download()};
  }

  int episodes, length;
  int n_step = 1;
  float gamma = 0.5f;
  std::uint64_t seed = 1234;  // of the draws: fixed, so that tests of frequencies do not depend on luck
  std::vector<float> priority, reward;
  std::vector<std::int32_t> action;
  std::vector<std::uint8_t> flags;
};

/// How often each leaf was drawn.
inline std::vector<int> counts(const Draws& draws, std::size_t leaves) {
  std::vector<int> result(leaves, 0);
  for (const std::int32_t leaf : draws.index) ++result.at(static_cast<std::size_t>(leaf));
  return result;
}

}  // namespace foxhunt::test
