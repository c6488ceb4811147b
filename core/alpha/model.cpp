#include "core/alpha/model.h"

#include "core/device/launch.h"

namespace foxhunt::alpha {
namespace {
std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// The bus's schedules; of those of a DQN none is used.
ScheduleParams schedule_of(const LearningRate& rate) {
  ScheduleParams params{};
  params.learning_rate = rate.peak;
  params.final_fraction = rate.final_fraction;
  params.warmup_iterations = rate.warmup_steps;
  params.total_iterations = rate.total_steps;
  params.decay = rate.decay;
  return params;
}
}  // namespace

Model::Model(Device& device, const ModelOptions& options)
    : device_(device), options_(options), trunk_(device, options.trunk, options.windows, options.steps) {}

void Model::plan(Arena& arena) {
  const std::size_t n = size(trunk_.layout().parameters()), before = arena.bytes();
  arena.plan("alpha.parameters", n, parameters_);
  arena.plan("alpha.moment1", n, moment1_);
  arena.plan("alpha.moment2", n, moment2_);
  learner_floats_ = (arena.bytes() - before) / sizeof(float);
  arena.plan("alpha.isv", isv_slot_count, isv_);
  arena.plan("alpha.counters", counter_count, counters_);
  arena.plan("alpha.starts", size(options_.windows), starts_);
  trunk_.plan_initial_state(arena);
  persistent_bytes_ = arena.bytes() - before;
  arena.plan("alpha.gradient", n, gradient_);
  arena.plan("alpha.gradient_norm", (n + 1023) / 1024, norm_);
  arena.plan("alpha.no_reward", 1, no_reward_);
  arena.plan("alpha.labels", size(trunk_.rows() * alpha_horizons), labels_);
  arena.plan("alpha.loss", size(trunk_.rows()), loss_);
  trunk_.plan_scratch(arena);
}

void Model::initialise(const DeviceSnapshots& snapshots) {
  health_ = std::make_unique<MappedBuffer<std::uint32_t>>(device_, health_words);
  device_.upload(parameters_, trunk_.layout().initial_parameters(options_.seed, options_.trunk.tau_min));
  if (options_.carry) take_first_windows(snapshots);
  record_step(snapshots);
}

/// Where next_windows_kernel goes on from.
void Model::take_first_windows(const DeviceSnapshots& snapshots) {
  const std::vector<std::int32_t> ring = device_.download(snapshots.starts);
  std::vector<std::int32_t> first;
  for (std::size_t w = 0; w < starts_.size; ++w) first.push_back(ring.at(w * ring.size() / starts_.size));
  device_.upload(starts_, first);
}

void Model::restore(std::span<const std::byte> bytes) {
  device_.upload(persistent(), bytes);
  run::show_health(device_, isv_, counters_, health_->host());
}

void Model::record_step(const DeviceSnapshots& s) {
  const int windows = options_.windows, steps = options_.steps, rows = trunk_.rows();
  const int count = static_cast<int>(s.starts.size);
  const float scale = 1.0f / static_cast<float>(windows * steps * alpha_horizons);
  step_ = device_.record([&] {
    launch(device_, begin_iteration_kernel, isv_, counters_, 1, 1, 0, schedule_of(options_.learning_rate));
    if (!options_.carry)
      launch(device_, sample_windows_kernel, s.starts, counters_, starts_, count, windows, options_.seed);
    launch(device_, gather_windows_kernel, s.features, s.seconds, s.labels, starts_, trunk_.x(), trunk_.seconds(),
           labels_, s.rows, windows, steps);
    trunk_.forward(parameters_);
    launch(device_, bce_loss_kernel, trunk_.logits(), labels_, loss_, trunk_.d_logits(), rows, scale);
    launch(device_, reduce_bce_kernel, loss_, labels_, isv_, counters_, rows);
    trunk_.backward(parameters_, gradient_);
    update();
    if (options_.carry)
      launch(device_, next_windows_kernel, s.starts, s.continues, counters_, trunk_.state(), starts_,
             trunk_.initial_state(), count, windows, steps, options_.trunk.hidden);
    launch(device_, end_iteration_kernel, no_reward_, isv_, counters_, health_->device(), 1, 1);
  });
}

void Model::update() {
  const int n = trunk_.layout().parameters();
  launch(device_, gradient_norm_kernel, gradient_, parameters_, moment1_, moment2_, isv_, norm_, counters_, n);
  launch(device_, adamw_kernel, parameters_, moment1_, moment2_, gradient_, norm_, counters_, isv_, n,
         trunk_.layout().table(), options_.adam);
}

}  // namespace foxhunt::alpha
