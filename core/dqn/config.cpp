#include "core/dqn/config.h"

#include <algorithm>
#include <limits>

namespace foxhunt::dqn {
namespace {

EnvironmentParams environment_params(const profile::Profile& p, const MarketTables& market) {
  EnvironmentParams e{};
  e.seed = static_cast<std::uint64_t>(p.run.seed.value());
  // One row's typical move of the whole position is reward 1, so that prices around 1.1 and 60,000 train alike.
  const double chosen = market.typical_move * p.environment.max_contracts;
  e.reward_scale = static_cast<float>(p.environment.reward_scale > 0 ? p.environment.reward_scale
                                      : chosen > 0                   ? chosen
                                                                     : 1.0);
  e.risk_aversion = static_cast<float>(p.environment.risk_aversion);
  e.capital = static_cast<float>(p.environment.starting_capital);
  e.ruin_equity = static_cast<float>((p.environment.ruin_fraction - 1.0) * p.environment.starting_capital);
  e.max_contracts = static_cast<float>(p.environment.max_contracts);
  e.step_limit = static_cast<int>(p.training.gpu_timesteps_per_episode);
  e.n_step = static_cast<int>(p.training.n_step);
  e.in_order = 0;
  return e;
}

ScheduleParams schedule_params(const profile::Profile& p) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  const auto clamp = [=](std::int64_t v) { return static_cast<int>(std::min<std::int64_t>(v, most)); };
  ScheduleParams s{};
  s.epsilon_start = static_cast<float>(p.exploration.epsilon_start);
  s.epsilon_end = static_cast<float>(p.exploration.epsilon_end);
  s.epsilon_iterations = clamp(p.exploration.epsilon_iterations);
  s.beta_start = static_cast<float>(p.replay_buffer.beta_start);
  s.beta_end = static_cast<float>(p.replay_buffer.beta_end);
  s.beta_iterations = clamp(p.replay_buffer.beta_iterations);
  s.learning_rate = static_cast<float>(p.optimizer.learning_rate);
  s.final_fraction = static_cast<float>(p.optimizer.final_fraction);
  s.warmup_iterations = clamp(p.optimizer.warmup_iterations);
  s.total_iterations = clamp(p.training.epochs * p.training.gpu_timesteps_per_episode);
  s.decay = p.optimizer.schedule == "linear" ? 1 : p.optimizer.schedule == "cosine" ? 2 : 0;
  s.c51_weight = static_cast<float>(p.loss.c51_weight);
  s.cql_weight = static_cast<float>(p.loss.cql_weight);
  s.min_replay_size = static_cast<int>(p.training.min_replay_size);
  return s;
}

nn::LearnerOptions learner_options(const profile::Profile& p) {
  nn::LearnerOptions o{};
  o.adam = {static_cast<float>(p.optimizer.beta1), static_cast<float>(p.optimizer.beta2),
            static_cast<float>(p.optimizer.epsilon), static_cast<float>(p.optimizer.weight_decay),
            static_cast<float>(p.optimizer.max_grad_norm)};
  o.tau = static_cast<float>(p.target_network.tau);
  o.target_period = p.target_network.update == "hard" ? static_cast<int>(p.target_network.period) : 0;
  o.spectral_norm = p.network.spectral_norm;
  o.spectral_epsilon = static_cast<float>(p.network.spectral_epsilon);
  return o;
}

}  // namespace

int raw_width(int actions, int atoms) { return ((actions + 1) * atoms + 3) / 4 * 4; }

nn::DenseNetwork q_network(int features, std::span<const std::int64_t> hidden, int actions, int atoms, bool spectral) {
  return {features + portfolio_width, hidden, raw_width(actions, atoms), spectral};
}

nn::DenseNetwork DqnConfig::network() const {
  return q_network(features, hidden, actions, atoms, learner.spectral_norm);
}

DqnConfig make_config(const profile::Profile& p, const MarketTables& market) {
  DqnConfig c{};
  c.episodes = static_cast<int>(p.training.gpu_n_episodes);
  c.length = static_cast<int>(p.training.buffer_size / p.training.gpu_n_episodes);
  c.batch = static_cast<int>(p.training.batch_size);
  c.n_step = static_cast<int>(p.training.n_step);
  c.actions = static_cast<int>(p.environment.actions.size());
  c.atoms = static_cast<int>(p.network.atoms);
  c.features = market.features;
  c.state = c.features + portfolio_width;
  c.raw_width = raw_width(c.actions, c.atoms);
  c.v_min = static_cast<float>(p.network.v_min);
  c.v_max = static_cast<float>(p.network.v_max);
  c.gamma = static_cast<float>(p.training.gamma);
  c.priority_alpha = static_cast<float>(p.replay_buffer.alpha);
  c.priority_epsilon = static_cast<float>(p.replay_buffer.priority_epsilon);
  c.seed = static_cast<std::uint64_t>(p.run.seed.value());
  for (const double a : p.environment.actions)
    c.positions.push_back(static_cast<float>(a * p.environment.max_contracts));
  c.hidden = p.network.hidden;
  c.environment = environment_params(p, market);
  c.schedule = schedule_params(p);
  c.learner = learner_options(p);
  // Kernels index with int; the widest product is the observation or the network's output of one pass.
  const std::int64_t rows = static_cast<std::int64_t>(c.episodes) + 2LL * c.batch;
  std::int64_t widest = std::max<std::int64_t>(c.state, c.raw_width);
  for (const std::int64_t h : c.hidden) widest = std::max(widest, h);
  if (rows * widest > std::numeric_limits<int>::max() ||
      p.training.buffer_size * portfolio_width > std::numeric_limits<int>::max())
    throw Error(ExitCode::usage,
                "training.batch_size, gpu_n_episodes or buffer_size: too large for one launch; halve one of them");
  return c;
}

}  // namespace foxhunt::dqn
