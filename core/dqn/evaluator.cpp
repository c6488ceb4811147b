#include "core/dqn/evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/launch.h"

namespace foxhunt::dqn {
namespace {
std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Steps of a policy that are queued before the host waits for them.
constexpr int script_steps = 64;

}  // namespace

Evaluator::Evaluator(Device& device, Agent& agent, const MarketTables::Lanes& lanes)
    : device_(device), agent_(agent), lanes_(lanes) {
  ring_.episodes = static_cast<int>(lanes.start_rows.size());
  ring_.length = lanes.longest + 2;  // the whole run stays in the ring
  ring_.actions = agent.config().actions;
  ring_.params = agent.config().environment;
  ring_.params.in_order = 1;
  ring_.params.risk_aversion = 0;  // rewards are dollars over the scale: the record of a run
  ring_.params.step_limit = std::numeric_limits<int>::max();
}

void Evaluator::plan(Arena& arena) {
  const DqnConfig& c = agent_.config();
  const std::size_t lanes = size(ring_.episodes);
  ring_.plan(arena, "evaluation", lanes);
  arena.plan("evaluation.isv", isv_slot_count, isv_);
  arena.plan("evaluation.counters", counter_count, counters_);
  arena.plan("evaluation.no_sample", 0, no_sample_);
  arena.plan("evaluation.no_next", 0, no_next_);
  arena.plan("evaluation.observation", lanes * size(c.state), observation_);
  arena.plan("evaluation.logits", lanes * size(c.actions * c.atoms), logits_);
  arena.plan("evaluation.q", lanes * size(c.actions), q_);
  const nn::DenseNetwork& network = agent_.learner().network();
  activations_.layer.resize(size(network.layers()));
  for (int l = 0; l < network.layers(); ++l)
    arena.plan("evaluation.layer" + std::to_string(l), lanes * size(network.outputs(l)), activations_.layer[size(l)]);
}

void Evaluator::initialise(const DeviceMarket& market) {
  market_ = &market;
  health_ = std::make_unique<MappedBuffer<std::uint32_t>>(device_, health_words);
  script_ = std::make_unique<MappedBuffer<std::int32_t>>(device_, size(script_steps) * size(ring_.episodes));
  ring_.upload(device_, lanes_.start_rows, agent_.config().positions);
  record();
}

void Evaluator::record() {
  const DqnConfig& c = agent_.config();
  ScheduleParams greedy{};  // epsilon 0; nothing is learned
  greedy.min_replay_size = std::numeric_limits<int>::max();
  const auto begin = [&] {
    launch(device_, begin_iteration_kernel, isv_, counters_, ring_.episodes, ring_.length, c.n_step, greedy);
  };
  const auto end = [&] {
    launch(device_, end_iteration_kernel, ring_.reward, isv_, counters_, health_->device(), ring_.episodes,
           ring_.length);
  };
  begin_step_ = device_.record(begin);
  end_step_ = device_.record(end);
  step_ = device_.record([&] {
    begin();
    launch(device_, gather_observations_kernel, market_->table, ring_.row, ring_.portfolio, no_sample_, no_next_,
           counters_, observation_, ring_.episodes, 0, ring_.length, c.features, market_->rows);
    nn::forward(device_, agent_.learner().network(), agent_.learner().online(), observation_, activations_,
                ring_.episodes);
    launch(device_, dueling_forward_kernel, activations_.output(), logits_, q_, ring_.episodes, c.actions, c.atoms,
           c.raw_width, c.v_min, c.v_max);
    launch(device_, select_actions_kernel, q_, isv_, counters_, ring_.chosen, ring_.episodes, c.actions, c.seed);
    ring_.step(device_, *market_, counters_);
    end();
  });
}

void Evaluator::reset() {
  device_.zero(counters_);
  ring_.reset(device_);
}

std::vector<SessionRecord> Evaluator::run() {
  reset();
  step_->run(lanes_.longest);
  return collect();
}

std::vector<SessionRecord> Evaluator::run(const Policy& policy) {
  reset();
  EpisodeRing scripted = ring_;  // reads its actions where the host writes them
  const std::size_t lanes = size(ring_.episodes);
  for (int t = 0; t < lanes_.longest; ++t) {
    const std::size_t first = size(t % script_steps) * lanes;
    if (first == 0) device_.synchronize();  // what was written before has been read
    for (std::size_t e = 0; e < lanes; ++e)
      if (t < lanes_.steps[e]) script_->host()[first + e] = policy(std::int64_t{lanes_.start_rows[e]} + t);
    scripted.chosen = script_->device().part(first, lanes);
    begin_step_->run();
    scripted.step(device_, *market_, counters_);
    end_step_->run();
  }
  return collect();
}

StateValues Evaluator::values_at_start() {
  reset();
  step_->run(1);
  return {device_.download(q_), device_.download(logits_)};
}

std::vector<SessionRecord> Evaluator::collect() {
  const std::vector<float> reward = device_.download(ring_.reward);
  const std::vector<std::int32_t> action = device_.download(ring_.action);
  const std::vector<std::uint8_t> flags = device_.download(ring_.flags);
  const std::vector<Episode> state = device_.download(ring_.state);
  nonfinite_ = device_.download(counters_)[counter_trips];
  accounting_error_ = 0;
  std::vector<SessionRecord> sessions(state.size());
  for (std::size_t e = 0; e < sessions.size(); ++e) {
    sessions[e].first_row = lanes_.start_rows[e];
    double sum = 0;
    for (int t = 0; t < lanes_.longest; ++t) {
      const std::size_t at = size(t) * sessions.size() + e;
      if (flags[at] & transition_unused) continue;
      const double net = static_cast<double>(reward[at]) * static_cast<double>(ring_.params.reward_scale);
      sessions[e].net.push_back(net);
      sessions[e].action.push_back(action[at]);
      sum += net;
    }
    sessions[e].gross = state[e].gross;
    sessions[e].trades = state[e].trades;
    const double error = std::abs(sum - state[e].equity);
    accounting_error_ = error <= accounting_error_ ? accounting_error_ : error;  // a NaN gets through
  }
  return sessions;
}

}  // namespace foxhunt::dqn
