// n-step windows of drawn transitions, and the priorities that they get back.
#include "tests/cuda/replay_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Rewards 2^slot and actions by leaf, so that a return tells which steps are in it. Gamma is a half.
Ring telling_ring(int episodes, int length, int n_step) {
  Ring ring(episodes, length);
  ring.n_step = n_step;
  for (int slot = 0; slot < length; ++slot)
    for (int e = 0; e < episodes; ++e) {
      ring.reward[ring.leaf(slot, e)] = static_cast<float>(1 << slot) * static_cast<float>(e + 1);
      ring.action[ring.leaf(slot, e)] = slot * 10 + e;
    }
  return ring;
}

struct Transition {
  int next, action;
  float reward, discount;
  bool operator==(const Transition&) const = default;
};

/// What drawing one leaf gives; the only one of positive priority.
Transition drawn(Device& device, Ring ring, std::size_t leaf) {
  std::fill(ring.priority.begin(), ring.priority.end(), 0.0f);
  ring.priority[leaf] = 3.0f;
  const Draws draws = ring.draw(device, 3);
  REQUIRE(draws.index == std::vector<std::int32_t>(3, static_cast<std::int32_t>(leaf)));
  REQUIRE(draws.priorities == std::vector<float>(3, 3.0f));
  return {draws.next[2], draws.action[2], draws.returns[2], draws.discounts[2]};
}

/// Inputs of update_priorities_kernel over a ring of 4 episodes and 6 slots, all leaves at priority 1.
struct Update {
  std::vector<std::int32_t> index = {1, 9};
  std::vector<float> td_error = {3.0f, 8.0f}, priority = std::vector<float>(24, 1.0f);
  std::vector<std::uint32_t> counters = counters_with({{counter_max_priority, std::bit_cast<std::uint32_t>(1.0f)}});
  float alpha = 0.5f, epsilon = 1.0f;

  Update run(Device& device) const {
    const TestBuffer<std::int32_t> at(device, index);
    const TestBuffer<float> error(device, td_error);
    TestBuffer<float> leaves(device, priority);
    TestBuffer<std::uint32_t> count(device, counters);
    launch_guarded(device, update_priorities_kernel, at, error, leaves, count, static_cast<int>(index.size()), 4, 6,
                   static_cast<int>(priority.size()), alpha, epsilon);
    Update after = *this;
    after.priority = leaves.download();
    after.counters = count.download();
    return after;
  }
  float max_priority() const { return std::bit_cast<float>(counters[counter_max_priority]); }
};

}  // namespace

TEST_CASE("kernel_replay: a return is the discounted sum of n rewards and bootstraps with gamma^n") {
  ON_EVERY_DEVICE(device);
  for (const int n : {1, 2, 3, 5}) {
    const Ring ring = telling_ring(3, 8, n);
    const int slot = 2;
    for (int e = 0; e < 3; ++e) {
      CAPTURE(n, e);
      // Rewards double and gamma halves: each step adds the same, 2^slot.
      const float reward = static_cast<float>(n * 4 * (e + 1)), discount = std::ldexp(1.0f, -n);
      REQUIRE(drawn(device, ring, ring.leaf(slot, e)) ==
              Transition{static_cast<int>(ring.leaf(slot + n, e)), slot * 10 + e, reward, discount});
    }
  }
}

TEST_CASE("kernel_replay: a window wraps around the end of the ring") {
  ON_EVERY_DEVICE(device);
  const Ring ring = telling_ring(2, 8, 3);
  // Slots 7, 0, 1 of episode 1, whose rewards are twice 2^slot; the next observation is in slot 2.
  REQUIRE(drawn(device, ring, ring.leaf(7, 1)) ==
          Transition{static_cast<int>(ring.leaf(2, 1)), 71, 2 * (128.0f + 0.5f * 1 + 0.25f * 2), 0.125f});
  REQUIRE(drawn(device, ring, ring.leaf(5, 0)) ==
          Transition{static_cast<int>(ring.leaf(0, 0)), 50, 32.0f + 0.5f * 64 + 0.25f * 128, 0.125f});
}

TEST_CASE("kernel_replay: a window stops at a terminal step, without bootstrap") {
  ON_EVERY_DEVICE(device);
  Ring ring = telling_ring(2, 8, 3);
  ring.flags[ring.leaf(3, 1)] = transition_terminal;
  ring.flags[ring.leaf(2, 0)] = transition_terminal;  // another episode's end is none of its business
  const auto at = [&](int slot) { return drawn(device, ring, ring.leaf(slot, 1)); };
  REQUIRE(at(3).reward == 2 * 8.0f);
  REQUIRE(at(3).discount == 0.0f);
  REQUIRE(at(2).reward == 2 * (4.0f + 0.5f * 8));
  REQUIRE(at(2).discount == 0.0f);
  REQUIRE(at(1).reward == 2 * (2.0f + 0.5f * 4 + 0.25f * 8));  // the last step of the window is the terminal one
  REQUIRE(at(1).discount == 0.0f);
  REQUIRE(at(0).reward == 2 * (1.0f + 0.5f * 2 + 0.25f * 4));  // ends just before it
  REQUIRE(at(0).discount == 0.125f);
  REQUIRE(at(4).discount == 0.125f);
}

TEST_CASE("kernel_replay: a window stops at a truncated step and bootstraps with gamma^m for the m steps taken") {
  ON_EVERY_DEVICE(device);
  Ring ring = telling_ring(2, 8, 3);
  ring.flags[ring.leaf(7, 0)] = transition_truncated;
  const auto at = [&](int slot) { return drawn(device, ring, ring.leaf(slot, 0)); };
  const auto after_the_end = static_cast<int>(ring.leaf(0, 0));
  REQUIRE(at(7) == Transition{after_the_end, 70, 128.0f, 0.5f});
  REQUIRE(at(6) == Transition{after_the_end, 60, 64.0f + 0.5f * 128, 0.25f});
  REQUIRE(at(5) == Transition{after_the_end, 50, 32.0f + 0.5f * 64 + 0.25f * 128, 0.125f});
}

TEST_CASE("kernel_replay: a step that is terminal and unused adds nothing to the window before it") {
  ON_EVERY_DEVICE(device);
  Ring ring = telling_ring(1, 8, 4);
  ring.flags[ring.leaf(3, 0)] = transition_terminal | transition_unused;
  ring.reward[ring.leaf(3, 0)] = 0.0f;
  REQUIRE(drawn(device, ring, ring.leaf(2, 0)).reward == 4.0f);
  REQUIRE(drawn(device, ring, ring.leaf(2, 0)).discount == 0.0f);
}

TEST_CASE("kernel_replay: priorities become (error + epsilon) ^ alpha, the others stay") {
  ON_EVERY_DEVICE(device);
  const Update before, after = before.run(device);
  std::vector<float> expected(24, 1.0f);
  expected[1] = 2.0f;
  expected[9] = 3.0f;
  REQUIRE(largest_difference(after.priority, expected) < 2e-6);
  Update linear;
  linear.alpha = 1.0f;
  REQUIRE(std::fabs(linear.run(device).priority[9] - 9.0f) < 5e-6f);
  Update uniform;
  uniform.alpha = 0.0f;
  REQUIRE(same_bits(uniform.run(device).priority, std::vector<float>(24, 1.0f)));
  Update small;
  small.td_error = {0.0f, 0.0f};
  small.epsilon = 1e-6f;
  for (const float p : small.run(device).priority) REQUIRE(p > 0.0f);  // no error is not no priority
}

TEST_CASE("kernel_replay: the largest priority ever given is kept") {
  ON_EVERY_DEVICE(device);
  Update update;
  REQUIRE(std::fabs(update.run(device).max_priority() - 3.0f) < 2e-6f);
  update.counters[counter_max_priority] = std::bit_cast<std::uint32_t>(7.5f);
  REQUIRE(update.run(device).max_priority() == 7.5f);
}

TEST_CASE("kernel_replay: an update is refused when something was not finite or nothing is learnt") {
  ON_EVERY_DEVICE(device);
  for (const bool learning : {false, true}) {
    Update update;
    update.counters[counter_learning] = learning;
    update.counters[counter_nonfinite] = learning;
    const Update after = update.run(device);
    REQUIRE(same_bits(after.priority, update.priority));
    REQUIRE(after.counters == update.counters);
  }
}

TEST_CASE("kernel_replay: what this iteration overwrites keeps its priority of zero") {
  ON_EVERY_DEVICE(device);
  // Iteration 13 of a ring of 6 writes slot 1; slot 2 is the next to be written: leaves 8 to 11.
  for (const auto& [iteration, first] : {std::pair{13u, 8u}, std::pair{0u, 4u}, std::pair{5u, 0u}, std::pair{6u, 4u}}) {
    Update update;
    update.counters[counter_iteration] = iteration;
    update.index.clear();
    for (int leaf = 0; leaf < 24; ++leaf) update.index.push_back(leaf);
    update.td_error.assign(24, 3.0f);
    for (std::size_t i = first; i < first + 4; ++i) update.priority[i] = 0.0f;
    std::vector<float> expected(24, 2.0f);
    for (std::size_t i = first; i < first + 4; ++i) expected[i] = 0.0f;
    CAPTURE(iteration);
    REQUIRE(largest_difference(update.run(device).priority, expected) < 2e-6);
  }
}

TEST_CASE("kernel_replay: a transition drawn many times gets one priority") {
  ON_EVERY_DEVICE(device);
  Update update;
  update.index.assign(3001, 17);
  update.td_error.assign(3001, 3.0f);
  const Update after = update.run(device);
  std::vector<float> expected(24, 1.0f);
  expected[17] = 2.0f;
  REQUIRE(largest_difference(after.priority, expected) < 2e-6);
}

TEST_CASE("kernel_replay: the very first leaf is a transition like any other, and an end hides what follows") {
  ON_EVERY_DEVICE(device);
  Ring ring = telling_ring(3, 8, 4);
  REQUIRE(drawn(device, ring, 0) == Transition{static_cast<int>(ring.leaf(4, 0)), 0, 4.0f, 0.0625f});
  for (const auto& [flag, discount] : {std::pair{transition_terminal, 0.0f}, std::pair{transition_truncated, 0.25f}}) {
    Ring ended = ring;
    ended.flags[ring.leaf(1, 0)] = flag;
    ended.reward[ring.leaf(2, 0)] = NAN;
    REQUIRE(drawn(device, ended, 0) == Transition{static_cast<int>(ring.leaf(2, 0)), 0, 2.0f, discount});
  }
}

TEST_CASE("kernel_replay: priorities come back for this batch alone and never beyond the ring") {
  ON_EVERY_DEVICE(device);
  Update update;
  update.index = {24, 2};
  REQUIRE(update.run(device).priority[2] == 3.0f);
  update.index = {1, 9, 10};
  update.td_error = {3.0f, 8.0f, 15.0f};
  const TestBuffer<std::int32_t> at(device, update.index);
  const TestBuffer<float> error(device, update.td_error);
  TestBuffer<float> leaves(device, update.priority);
  TestBuffer<std::uint32_t> count(device, update.counters);
  launch_guarded(device, update_priorities_kernel, at, error, leaves, count, 2, 4, 6, 24, 0.5f, 1.0f);
  REQUIRE(leaves.at(9) == 3.0f);
  REQUIRE(leaves.at(10) == 1.0f);
}
