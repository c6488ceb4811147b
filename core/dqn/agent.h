#pragma once
#include "core/device/isv_bus.h"
#include "core/device/mapped_buffer.h"
#include "core/dqn/config.h"
#include "core/dqn/episode_ring.h"
#include "core/run/trainee.h"

namespace foxhunt::dqn {

using run::Health;

/// One DQN agent on a device: network, optimiser, replay, episodes, bus; and its training iteration as one recorded
/// program.
class Agent : public run::Trainee {
 public:
  Agent(Device& device, const DqnConfig& config);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void plan(Arena& arena, std::size_t starts);
  /// After Arena::commit: parameters, episodes, schedules; then records the iteration.
  void initialise(const DeviceMarket& market, std::span<const std::int32_t> train_starts);

  void iterate(int count) override { iteration_->run(count); }
  Health health() const override { return Health::of(std::as_const(*health_).host()); }

  const DqnConfig& config() const { return config_; }
  nn::Learner& learner() { return learner_; }
  const nn::Learner& learner() const { return learner_; }
  const EpisodeRing& ring() const { return ring_; }
  IsvBus bus() { return {device_, isv_}; }
  DeviceSpan<float> isv() const { return isv_; }
  DeviceSpan<std::uint32_t> counters() const { return counters_; }
  const Program& program() const override { return *iteration_; }
  /// Learner, replay, episodes, bus, counters.
  DeviceSpan<std::byte> persistent() const override {
    return {reinterpret_cast<std::byte*>(learner_.parameters().data), persistent_bytes_};
  }
  std::size_t persistent_bytes() const override { return persistent_bytes_; }
  DeviceSpan<float> learner_block() const override { return learner_.block(); }
  std::size_t learner_floats() const override { return learner_.block_floats(); }
  /// Puts back what a download of persistent() gave, and health() with it. All queued iterations must be done.
  void restore(std::span<const std::byte> bytes);

 private:
  void plan_scratch(Arena& arena);
  void record_iteration(const DeviceMarket& market);
  // The iteration in the order in which it runs.
  void begin() const;
  void sample_transitions() const;
  void observe(const DeviceMarket& market) const;
  void forward() const;
  void act_and_step(const DeviceMarket& market) const;
  void compute_losses() const;
  void backward() const;
  void finish() const;

  Device& device_;
  DqnConfig config_;
  nn::Learner learner_;
  EpisodeRing ring_;
  DeviceSpan<float> isv_;
  DeviceSpan<std::uint32_t> counters_;
  std::size_t persistent_bytes_ = 0;
  std::unique_ptr<MappedBuffer<std::uint32_t>> health_;

  // Replay sums and the sampled batch.
  DeviceSpan<float> groups_, chunks_, supers_;
  DeviceSpan<std::int32_t> index_, next_, action_;
  DeviceSpan<float> returns_, discounts_, priorities_, weight_, td_error_;
  // Rows: [episodes acting | batch sampled | batch bootstrapping].
  DeviceSpan<float> observation_, logits_, q_;
  nn::Activations online_;
  // The target network on the bootstrapping rows.
  nn::Activations target_;
  DeviceSpan<float> target_logits_, target_q_;
  DeviceSpan<float> projected_, projected_mean_, c51_loss_, mse_loss_, cql_loss_;
  DeviceSpan<float> d_logits_, d_logits_mse_;
  nn::BackwardScratch backward_;
  std::unique_ptr<Program> iteration_;
};

}  // namespace foxhunt::dqn
