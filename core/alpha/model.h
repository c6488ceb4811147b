#pragma once
#include <array>
#include <memory>
#include <span>

#include "core/alpha/trunk.h"
#include "core/device/mapped_buffer.h"

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
  AdamParams adam{0.9f, 0.999f, 1e-8f, 1e-4f, 1.0f};
  LearningRate learning_rate;
  std::uint64_t seed = 1;
};

/// Snapshots on the device, as training reads them.
struct DeviceSnapshots {
  int rows = 0;
  DeviceSpan<float> features;       ///< [rows, 40]
  DeviceSpan<float> seconds;        ///< [rows], since the snapshot before
  DeviceSpan<std::uint8_t> labels;  ///< [rows, 5]: 0, 1, no_label
  DeviceSpan<std::int32_t> starts;  ///< first rows of windows that may be drawn
};

/// What the last kernel of a training step left for the host in mapped memory.
struct Health {
  std::array<float, isv_slot_count> isv;
  std::array<std::uint32_t, counter_count> counters;
};

/// One alpha model on a device: trunk, optimiser, bus; and its training step as one recorded program.
class Model {
 public:
  Model(Device& device, const ModelOptions& options);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void plan(Arena& arena);
  /// After Arena::commit: parameters and schedules; then records the step.
  void initialise(const DeviceSnapshots& snapshots);

  /// Queues `count` training steps.
  void train(int count) { step_->run(count); }
  /// As the last finished step left it; exact after Device::synchronize.
  Health health() const;

  const Program& program() const { return *step_; }
  CfcTrunk& trunk() { return trunk_; }
  DeviceSpan<float> parameters() const { return parameters_; }
  DeviceSpan<float> gradient() const { return gradient_; }
  DeviceSpan<std::uint32_t> counters() const { return counters_; }

 private:
  void record_step(const DeviceSnapshots& snapshots);
  void update();

  Device& device_;
  ModelOptions options_;
  CfcTrunk trunk_;
  DeviceSpan<float> parameters_, moment1_, moment2_, gradient_, norm_, isv_, loss_, no_reward_;
  DeviceSpan<std::uint32_t> counters_;
  DeviceSpan<std::int32_t> starts_;
  DeviceSpan<std::uint8_t> labels_;
  std::unique_ptr<MappedBuffer<std::uint32_t>> health_;
  std::unique_ptr<Program> step_;
};

}  // namespace foxhunt::alpha
