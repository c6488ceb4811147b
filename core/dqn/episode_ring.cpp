#include "core/dqn/episode_ring.h"

#include "core/device/launch.h"

namespace foxhunt::dqn {

void EpisodeRing::plan(Arena& arena, const std::string& prefix, std::size_t starts) {
  const auto lanes = static_cast<std::size_t>(episodes);
  arena.plan(prefix + ".start_rows", starts, start_rows);
  arena.plan(prefix + ".positions", static_cast<std::size_t>(actions), positions);
  arena.plan(prefix + ".chosen", lanes, chosen);
  arena.plan(prefix + ".state", lanes, state);
  arena.plan(prefix + ".row", leaves(), row);
  arena.plan(prefix + ".portfolio", leaves() * portfolio_width, portfolio);
  arena.plan(prefix + ".action", leaves(), action);
  arena.plan(prefix + ".reward", leaves(), reward);
  arena.plan(prefix + ".flags", leaves(), flags);
  arena.plan(prefix + ".priority", leaves(), priority);
}

void EpisodeRing::upload(Device& device, std::span<const std::int32_t> starts,
                         std::span<const float> target_positions) const {
  device.upload(start_rows, starts);
  device.upload(positions, target_positions);
}

void EpisodeRing::reset(Device& device) const {
  launch(device, reset_episodes_kernel, start_rows, state, row, portfolio, priority, flags,
         static_cast<int>(start_rows.size), episodes, length, params);
}

void EpisodeRing::step(Device& device, const DeviceMarket& market, DeviceSpan<std::uint32_t> counters) const {
  launch(device, step_environment_kernel, market.open_gap, market.hold_gap, market.cost, market.flags, start_rows,
         positions, chosen, state, row, portfolio, action, reward, flags, priority, counters, market.rows,
         static_cast<int>(start_rows.size), actions, episodes, length, params);
}

}  // namespace foxhunt::dqn
