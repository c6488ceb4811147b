#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/alpha/trunk.h"
#include "core/device/mapped_buffer.h"
#include "core/run/trainee.h"

namespace foxhunt::alpha {

/// Course of the learning rate over the training steps.
struct LearningRate {
  float peak = 1e-3f, final_fraction = 1.0f;
  int warmup_steps = 0, total_steps = 0;
  int decay = 0;  ///< 0 constant, 1 linear, 2 cosine
};

struct ModelOptions {
  TrunkShape trunk;
  int windows = 32, steps = 64;  ///< of a training step
  /// False: windows are drawn at random and start from a state of zero. True: they are taken in order, and each starts
  /// from the state that the one before it in its session left.
  bool carry = false;
  AdamParams adam{0.9f, 0.999f, 1e-8f, 1e-4f, 1.0f};
  LearningRate learning_rate;
  std::uint64_t seed = 1;
};

/// Snapshots on the device, as training reads them.
struct DeviceSnapshots {
  int rows = 0;
  DeviceSpan<float> features;          ///< [rows, 40]
  DeviceSpan<float> seconds;           ///< [rows], since the snapshot before
  DeviceSpan<std::uint8_t> labels;     ///< [rows, 5]: 0, 1, no_label
  DeviceSpan<std::int32_t> starts;     ///< first rows of windows that may be drawn; of a carried state in time order
  DeviceSpan<std::uint8_t> continues;  ///< of a carried state: 1 where a window follows on the one before it in starts
};

using run::Health;

/// One alpha model on a device: trunk, optimiser, bus; and its training step as one recorded program.
class Model : public run::Trainee {
 public:
  Model(Device& device, const ModelOptions& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void plan(Arena& arena);
  /// After Arena::commit: parameters and schedules; then records the step. The snapshots hold their starts by then.
  void initialise(const DeviceSnapshots& snapshots);

  void iterate(int count) override { step_->run(count); }
  Health health() const override { return Health::of(std::as_const(*health_).host()); }
  const Program& program() const override { return *step_; }
  /// Parameters, moments, bus, counters, the windows of the next step and their states.
  DeviceSpan<std::byte> persistent() const override {
    return {reinterpret_cast<std::byte*>(parameters_.data), persistent_bytes_};
  }
  std::size_t persistent_bytes() const override { return persistent_bytes_; }
  DeviceSpan<float> learner_block() const override { return {parameters_.data, learner_floats_}; }
  std::size_t learner_floats() const override { return learner_floats_; }

  /// Takes up persistent() as it was. All queued iterations must be done.
  void restore(std::span<const std::byte> persistent);

  const ModelOptions& options() const { return options_; }
  const TrunkLayout& layout() const { return trunk_.layout(); }
  CfcTrunk& trunk() { return trunk_; }
  DeviceSpan<float> parameters() const { return parameters_; }
  DeviceSpan<float> moment1() const { return moment1_; }
  DeviceSpan<float> moment2() const { return moment2_; }
  /// What the learner's block holds, by name.
  std::vector<std::pair<std::string, DeviceSpan<float>>> learner_tensors() const {
    return {{"parameters", parameters_}, {"moment1", moment1_}, {"moment2", moment2_}};
  }
  DeviceSpan<float> gradient() const { return gradient_; }
  DeviceSpan<float> isv() const { return isv_; }
  DeviceSpan<std::uint32_t> counters() const { return counters_; }
  DeviceSpan<std::int32_t> starts() const { return starts_; }                 ///< [windows], of the next step
  DeviceSpan<float> initial_state() const { return trunk_.initial_state(); }  ///< [windows, hidden], of the next step

 private:
  void record_step(const DeviceSnapshots& snapshots);
  void update();
  void take_first_windows(const DeviceSnapshots& snapshots);

  Device& device_;
  ModelOptions options_;
  CfcTrunk trunk_;
  DeviceSpan<float> parameters_, moment1_, moment2_;  // the learner's block
  DeviceSpan<float> isv_, gradient_, norm_, loss_, no_reward_;
  std::size_t learner_floats_ = 0, persistent_bytes_ = 0;
  DeviceSpan<std::uint32_t> counters_;
  DeviceSpan<std::int32_t> starts_;
  DeviceSpan<std::uint8_t> labels_;
  std::unique_ptr<MappedBuffer<std::uint32_t>> health_;
  std::unique_ptr<Program> step_;
};

}  // namespace foxhunt::alpha
