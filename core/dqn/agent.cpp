#include "core/dqn/agent.h"

#include <algorithm>
#include <cstring>

#include "core/device/launch.h"

namespace foxhunt::dqn {
namespace {
std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }
}  // namespace

Agent::Agent(Device& device, const DqnConfig& config)
    : device_(device), config_(config), learner_(device, config.network(), config.learner) {
  ring_.episodes = config.episodes;
  ring_.length = config.length;
  ring_.actions = config.actions;
  ring_.params = config.environment;
}

void Agent::plan(Arena& arena, std::size_t starts) {
  const std::size_t before = arena.bytes();
  learner_.plan(arena);
  ring_.plan(arena, "replay", starts);
  arena.plan("isv", isv_slot_count, isv_);
  arena.plan("counters", counter_count, counters_);
  persistent_bytes_ = arena.bytes() - before;
  plan_scratch(arena);
}

void Agent::plan_scratch(Arena& arena) {
  const DqnConfig& c = config_;
  const std::size_t leaves = ring_.leaves(), batch = size(c.batch), rows = size(c.episodes + 2 * c.batch);
  const std::size_t q_values = size(c.actions), logits = size(c.actions * c.atoms);
  arena.plan("priority_groups", (leaves + 31) / 32, groups_);
  arena.plan("priority_chunks", (leaves + 1023) / 1024, chunks_);
  arena.plan("priority_supers", (leaves + 32767) / 32768, supers_);
  arena.plan("sample.index", batch, index_);
  arena.plan("sample.next", batch, next_);
  arena.plan("sample.action", batch, action_);
  arena.plan("sample.returns", batch, returns_);
  arena.plan("sample.discounts", batch, discounts_);
  arena.plan("sample.priorities", batch, priorities_);
  arena.plan("sample.weight", batch, weight_);
  arena.plan("sample.td_error", batch, td_error_);
  arena.plan("observation", rows * size(c.state), observation_);
  arena.plan("logits", rows * logits, logits_);
  arena.plan("q", rows * q_values, q_);
  arena.plan("target_logits", batch * logits, target_logits_);
  arena.plan("target_q", batch * q_values, target_q_);
  arena.plan("target_distribution", batch * size(c.atoms), projected_);
  arena.plan("target_mean", batch, projected_mean_);
  arena.plan("c51_loss", batch, c51_loss_);
  arena.plan("mse_loss", batch, mse_loss_);
  arena.plan("cql_loss", batch, cql_loss_);
  arena.plan("d_logits", batch * logits, d_logits_);
  arena.plan("d_logits_mse", batch * logits, d_logits_mse_);
  const nn::DenseNetwork& network = learner_.network();
  arena.plan("gradient_partials", nn::partial_floats(network, c.batch), backward_.partial);
  online_.layer.resize(size(network.layers()));
  target_.layer.resize(size(network.layers()));
  backward_.d_output.resize(size(network.layers()));
  for (int l = 0; l < network.layers(); ++l) {
    const std::string layer = ".layer" + std::to_string(l);
    const std::size_t width = size(network.outputs(l));
    arena.plan("online" + layer, rows * width, online_.layer[size(l)]);
    arena.plan("target" + layer, batch * width, target_.layer[size(l)]);
    arena.plan("gradient" + layer, batch * width, backward_.d_output[size(l)]);
  }
}

void Agent::initialise(const DeviceMarket& market, std::span<const std::int32_t> train_starts) {
  health_ = std::make_unique<MappedBuffer<std::uint32_t>>(device_, health_words);
  learner_.initialise(config_.seed, counters_);
  ring_.upload(device_, train_starts, config_.positions);
  std::vector<std::uint32_t> start(counter_count, 0);
  const float first_priority = 1.0f;
  std::memcpy(&start[counter_max_priority], &first_priority, sizeof first_priority);
  device_.upload(counters_, start);
  ring_.reset(device_);
  device_.synchronize();
  record_iteration(market);
}

void Agent::restore(std::span<const std::byte> bytes) {
  device_.upload(persistent(), bytes);
  run::show_health(device_, isv_, counters_, health_->host());
}

void Agent::record_iteration(const DeviceMarket& market) {
  iteration_ = device_.record([&] {
    begin();
    sample_transitions();
    observe(market);
    forward();
    act_and_step(market);
    compute_losses();
    backward();
    learner_.update(isv_, counters_);
    finish();
  });
}

void Agent::begin() const {
  launch(device_, begin_iteration_kernel, isv_, counters_, config_.episodes, config_.length, config_.n_step,
         config_.schedule);
}

/// Draws from what was stored before this step, so that acting and learning share one pass through the network.
void Agent::sample_transitions() const {
  const int leaves = static_cast<int>(ring_.leaves());
  launch(device_, sum_priorities_kernel, ring_.priority, groups_, chunks_, supers_, counters_, leaves);
  launch(device_, sample_transitions_kernel, ring_.priority, groups_, chunks_, supers_, ring_.reward, ring_.action,
         ring_.flags, counters_, index_, next_, action_, returns_, discounts_, priorities_, config_.batch,
         config_.episodes, config_.length, config_.n_step, config_.gamma, config_.seed);
}

void Agent::observe(const DeviceMarket& market) const {
  launch(device_, gather_observations_kernel, market.table, ring_.row, ring_.portfolio, index_, next_, counters_,
         observation_, config_.episodes, config_.batch, config_.length, config_.features, market.rows);
}

void Agent::forward() const {
  const DqnConfig& c = config_;
  const int rows = c.episodes + 2 * c.batch;
  const DeviceSpan<const float> bootstrap =
      observation_.part(size(c.episodes + c.batch) * size(c.state), size(c.batch) * size(c.state));
  const auto online = [&] {
    nn::forward(device_, learner_.network(), learner_.online(), observation_, online_, rows);
    launch(device_, dueling_forward_kernel, online_.output(), logits_, q_, rows, c.actions, c.atoms, c.raw_width,
           c.v_min, c.v_max);
  };
  const auto target = [&] {
    nn::forward(device_, learner_.network(), learner_.target(), bootstrap, target_, c.batch);
    launch(device_, dueling_forward_kernel, target_.output(), target_logits_, target_q_, c.batch, c.actions, c.atoms,
           c.raw_width, c.v_min, c.v_max);
  };
  device_.side_by_side(online, target);
}

void Agent::act_and_step(const DeviceMarket& market) const {
  const DqnConfig& c = config_;
  launch(device_, select_actions_kernel, q_, isv_, counters_, ring_.chosen, c.episodes, c.actions, c.seed);
  ring_.step(device_, market, counters_);
}

void Agent::compute_losses() const {
  const DqnConfig& c = config_;
  const std::size_t q_values = size(c.actions), all_logits = size(c.actions * c.atoms), batch = size(c.batch);
  const DeviceSpan<const float> q = q_.part(size(c.episodes) * q_values, batch * q_values);
  const DeviceSpan<const float> next_q = q_.part(size(c.episodes + c.batch) * q_values, batch * q_values);
  const DeviceSpan<const float> logits = logits_.part(size(c.episodes) * all_logits, batch * all_logits);
  launch(device_, project_target_kernel, next_q, target_logits_, returns_, discounts_, priorities_, isv_, counters_,
         projected_, projected_mean_, weight_, c.batch, c.actions, c.atoms, c.v_min, c.v_max);
  launch(device_, c51_loss_kernel, logits, action_, projected_, weight_, c51_loss_, d_logits_, c.batch, c.actions,
         c.atoms);
  launch(device_, mse_loss_kernel, logits, q, action_, projected_mean_, weight_, mse_loss_, d_logits_mse_, c.batch,
         c.actions, c.atoms, c.v_min, c.v_max);
  // Blend: alpha * C51 + (1 - alpha) * MSE. Both streams follow, the dueling map being linear.
  const DeviceSpan<const float> isv = isv_;
  const int n = static_cast<int>(d_logits_.size);
  launch(device_, dqn_scale_f32_kernel, d_logits_, isv.part(isv_c51_weight, 1), n);
  launch(device_, dqn_saxpy_f32_kernel, d_logits_, d_logits_mse_, isv.part(isv_mse_weight, 1), n);
  launch(device_, cql_loss_kernel, logits, q, action_, weight_, isv_, cql_loss_, d_logits_, c.batch, c.actions, c.atoms,
         c.v_min, c.v_max);
  launch(device_, reduce_losses_kernel, c51_loss_, mse_loss_, cql_loss_, weight_, q, action_, projected_mean_,
         td_error_, isv_, counters_, c.batch, c.actions);
}

void Agent::backward() const {
  const DqnConfig& c = config_;
  launch(device_, dueling_backward_kernel, d_logits_, backward_.d_output.back(), c.batch, c.actions, c.atoms,
         c.raw_width);
  const DeviceSpan<const float> sampled =
      observation_.part(size(c.episodes) * size(c.state), size(c.batch) * size(c.state));
  nn::backward(device_, learner_.network(), learner_.online(), sampled,
               online_.rows(learner_.network(), c.episodes, c.batch), backward_, learner_.gradient(), c.batch);
}

void Agent::finish() const {
  launch(device_, update_priorities_kernel, index_, td_error_, ring_.priority, counters_, config_.batch,
         config_.episodes, config_.length, static_cast<int>(ring_.leaves()), config_.priority_alpha,
         config_.priority_epsilon);
  launch(device_, end_iteration_kernel, ring_.reward, isv_, counters_, health_->device(), config_.episodes,
         config_.length);
}

}  // namespace foxhunt::dqn
