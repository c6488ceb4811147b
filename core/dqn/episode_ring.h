#pragma once
#include "core/dqn/market_tables.h"
#include "core/kernels.h"

namespace foxhunt::dqn {

/// Episodes that run side by side and the time-major ring [length, episodes] of what they did: the replay's storage
/// while training, the record of a run through a split while evaluating.
struct EpisodeRing {
  int episodes = 0, length = 0, actions = 0;
  EnvironmentParams params{};
  DeviceSpan<std::int32_t> start_rows, row, action, chosen;
  DeviceSpan<float> positions;  ///< [actions] contracts
  DeviceSpan<Episode> state;
  DeviceSpan<float> portfolio, reward, priority;
  DeviceSpan<std::uint8_t> flags;

  std::size_t leaves() const { return static_cast<std::size_t>(episodes) * static_cast<std::size_t>(length); }
  void plan(Arena& arena, const std::string& prefix, std::size_t starts);
  void upload(Device& device, std::span<const std::int32_t> starts, std::span<const float> target_positions) const;
  /// Queues the start of every episode; the ring is empty afterwards.
  void reset(Device& device) const;
  /// Queues one step of every episode by the actions in `chosen`.
  void step(Device& device, const DeviceMarket& market, DeviceSpan<std::uint32_t> counters) const;
};

}  // namespace foxhunt::dqn
