#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/device/launch.h"
#include "tests/dqn/training_fixture.h"

namespace foxhunt::test {

/// Runs lanes that start at `starts` with one action for all steps; what became of the episodes.
struct ScriptedRun {
  std::vector<Episode> state;
  std::vector<double> reward_dollars;  ///< sum of an episode's rewards, in dollars
};

inline ScriptedRun run_scripted(const std::string& device_name, const dqn::LoadedMarket& market,
                                std::span<const std::int32_t> starts, int steps, std::int32_t action) {
  const auto device = open_device(device_name);
  const std::vector<float> positions = {-1.0f, 0.0f, 1.0f};
  Arena arena(*device);
  dqn::DeviceMarket tables;
  dqn::EpisodeRing ring;
  ring.episodes = static_cast<int>(starts.size());
  ring.length = steps + 2;
  ring.actions = 3;
  ring.params.reward_scale = 20;
  ring.params.capital = 1e9f;
  ring.params.ruin_equity = -1e9f;
  ring.params.max_contracts = 1;
  ring.params.step_limit = 1 << 30;
  ring.params.n_step = 1;
  ring.params.in_order = 1;
  DeviceSpan<float> isv;
  DeviceSpan<std::uint32_t> counters;
  tables.plan(arena, market.tables);
  ring.plan(arena, "ring", starts.size());
  arena.plan("isv", isv_slot_count, isv);
  arena.plan("counters", counter_count, counters);
  arena.commit();
  tables.upload(*device, market.tables);
  ring.upload(*device, starts, positions);
  device->upload(ring.chosen, std::vector<std::int32_t>(starts.size(), action));
  MappedBuffer<std::uint32_t> health(*device, health_words);
  ring.reset(*device);
  for (int i = 0; i < steps; ++i) {
    ring.step(*device, tables, counters);
    launch(*device, end_iteration_kernel, ring.reward, isv, counters, health.device(), ring.episodes, ring.length);
  }
  ScriptedRun result{device->download(ring.state), std::vector<double>(starts.size(), 0.0)};
  const std::vector<float> rewards = device->download(ring.reward);
  for (std::size_t i = 0; i < rewards.size(); ++i)
    result.reward_dollars[i % starts.size()] += 20.0 * static_cast<double>(rewards[i]);
  return result;
}

/// A lane for every session of the whole tape, and the rows of the longest.
struct EveryLane {
  std::vector<std::int32_t> starts;
  int longest = 0;
  explicit EveryLane(const dqn::LoadedMarket& m) {
    int length = 0;
    for (std::size_t i = 0; i < m.tape.rows(); ++i) {
      const bool first = i == 0 || (m.tables.flags[i - 1] & market_last);
      if (first && !(m.tables.flags[i] & market_last)) starts.push_back(static_cast<std::int32_t>(i));
      length = first ? 1 : length + 1;
      longest = std::max(longest, length);
    }
  }
};

/// The row at which the lane that starts at `first` ends.
inline std::size_t end_of_lane(const dqn::LoadedMarket& m, std::int32_t first) {
  auto last = static_cast<std::size_t>(first);
  while (!(m.tables.flags[last] & market_last)) ++last;
  return last;
}

}  // namespace foxhunt::test
