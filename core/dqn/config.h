#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/dqn/market_tables.h"
#include "core/kernels.h"
#include "core/nn/learner.h"
#include "core/profile/profile.h"

namespace foxhunt::dqn {

/// Outputs of the Q-network: the value's and each action's atoms, padded to 16 bytes.
int raw_width(int actions, int atoms);
/// From features and portfolio to raw_width outputs.
nn::DenseNetwork q_network(int features, std::span<const std::int64_t> hidden, int actions, int atoms, bool spectral);

/// A profile and a market, turned into the numbers that kernels take.
struct DqnConfig {
  int episodes, length;  ///< the replay ring: length = buffer_size / episodes steps of each
  int batch, n_step, actions, atoms;
  int features, state;  ///< width of an observation = features + portfolio_width
  int raw_width;        ///< outputs of the network
  float v_min, v_max, gamma;
  float priority_alpha, priority_epsilon;
  std::uint64_t seed;
  std::vector<float> positions;  ///< contracts, by action
  std::vector<std::int64_t> hidden;
  EnvironmentParams environment;
  ScheduleParams schedule;
  nn::LearnerOptions learner;

  nn::DenseNetwork network() const;
};

/// The profile has a seed. Throws Error(usage) when a size does not fit a kernel's integers.
DqnConfig make_config(const profile::Profile& profile, const MarketTables& market);

}  // namespace foxhunt::dqn
