#pragma once
#include "core/device/arena.h"
#include "core/nn/dense_network.h"

namespace foxhunt::nn {

struct LearnerOptions {
  AdamParams adam;
  float tau;          ///< of the polyak update of the target network
  int target_period;  ///< > 0: hard copies after so many updates instead
  bool spectral_norm;
  float spectral_epsilon;
};

/// What one network being trained owns: parameters, moments, target network, spectral vectors, and how an update
/// changes them. All of it lies in one run of the arena, so that it can be copied away and back as one block.
class Learner {
 public:
  Learner(Device& device, DenseNetwork network, const LearnerOptions& options);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  void plan(Arena& arena);
  /// Uploads initial parameters; target and effective weights follow. After Arena::commit.
  void initialise(std::uint64_t seed, DeviceSpan<const std::uint32_t> counters);

  /// From gradient() to the next parameters and target: clip, AdamW, spectral step, target update. Refused on the
  /// device as a whole when `counters` hold a non-finite value or the iteration does not learn.
  void update(DeviceSpan<float> isv, DeviceSpan<std::uint32_t> counters);

  const DenseNetwork& network() const { return network_; }
  /// The weights that forward passes use: spectrally normalised ones where the option is on.
  DeviceSpan<const float> online() const { return options_.spectral_norm ? effective_ : parameters_; }
  DeviceSpan<const float> target() const { return target_; }
  DeviceSpan<float> gradient() const { return gradient_; }
  DeviceSpan<float> parameters() const { return parameters_; }
  DeviceSpan<float> norm() const { return norm_; }

  struct Tensor {
    std::string name;
    DeviceSpan<float> span;
  };
  /// Everything that a checkpoint must hold to go on bit for bit.
  std::vector<Tensor> state() const;
  /// The same as one run of memory, alignment included; what rollback copies.
  DeviceSpan<float> block() const { return {parameters_.data, block_floats_}; }
  /// Its size, known once planned.
  std::size_t block_floats() const { return block_floats_; }

 private:
  void spectral_step(int iterations, DeviceSpan<const std::uint32_t> counters);

  Device& device_;
  DenseNetwork network_;
  LearnerOptions options_;
  DeviceSpan<float> parameters_, moment1_, moment2_, target_, effective_, left_, right_, sigma_;  // the block
  std::size_t block_floats_ = 0;
  DeviceSpan<float> gradient_, norm_;
};

}  // namespace foxhunt::nn
