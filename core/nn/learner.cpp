#include "core/nn/learner.h"

#include <cmath>

#include "core/device/launch.h"

namespace foxhunt::nn {
namespace {
/// Power iterations after an initialisation; later one an update keeps up.
constexpr int warm_up_iterations = 30;
}  // namespace

Learner::Learner(Device& device, DenseNetwork network, const LearnerOptions& options)
    : device_(device), network_(std::move(network)), options_(options) {}

void Learner::plan(Arena& arena) {
  const auto n = static_cast<std::size_t>(network_.parameters());
  const std::size_t before = arena.bytes();
  arena.plan("parameters", n, parameters_);
  arena.plan("moment1", n, moment1_);
  arena.plan("moment2", n, moment2_);
  arena.plan("target", n, target_);
  if (options_.spectral_norm) {
    const auto vectors = static_cast<std::size_t>(network_.layers() * network_.widest());
    arena.plan("effective", n, effective_);
    arena.plan("spectral_left", vectors, left_);
    arena.plan("spectral_right", vectors, right_);
    arena.plan("spectral_sigma", static_cast<std::size_t>(network_.layers()), sigma_);
  }
  block_floats_ = (arena.bytes() - before) / sizeof(float);
  arena.plan("gradient", n, gradient_);
  arena.plan("gradient_norm", (n + 1023) / 1024, norm_);
}

void Learner::initialise(std::uint64_t seed, DeviceSpan<const std::uint32_t> counters) {
  const std::vector<float> initial = network_.initial_parameters(seed);
  device_.upload(parameters_, initial);
  if (options_.spectral_norm) {
    std::vector<float> start(left_.size, 1.0f / std::sqrt(static_cast<float>(network_.widest())));
    device_.upload(left_, start);
    spectral_step(warm_up_iterations, counters);
  }
  device_.copy(target_, online());
  device_.synchronize();
}

void Learner::spectral_step(int iterations, DeviceSpan<const std::uint32_t> counters) {
  const int n = network_.parameters(), layers = network_.layers();
  launch(device_, spectral_sigma_kernel, parameters_, counters, left_, right_, sigma_, n, layers, network_.widest(),
         iterations, options_.spectral_epsilon, network_.table());
  launch(device_, spectral_apply_kernel, parameters_, sigma_, counters, effective_, n, layers, network_.table());
}

void Learner::update(DeviceSpan<float> isv, DeviceSpan<std::uint32_t> counters) {
  const int n = network_.parameters();
  if (options_.spectral_norm)
    launch(device_, spectral_backward_kernel, gradient_, effective_, left_, right_, sigma_, n, network_.layers(),
           network_.widest(), options_.spectral_epsilon, network_.table());
  launch(device_, gradient_norm_kernel, gradient_, parameters_, moment1_, moment2_, isv, norm_, counters, n);
  launch(device_, adamw_kernel, parameters_, moment1_, moment2_, gradient_, norm_, counters, isv, n, network_.table(),
         options_.adam);
  if (options_.spectral_norm) spectral_step(1, counters);
  launch(device_, update_target_kernel, target_, online(), counters, n, options_.tau, options_.target_period);
}

std::vector<Learner::Tensor> Learner::state() const {
  std::vector<Tensor> tensors = {
      {"parameters", parameters_}, {"moment1", moment1_}, {"moment2", moment2_}, {"target", target_}};
  if (options_.spectral_norm) {
    tensors.push_back({"effective", effective_});
    tensors.push_back({"spectral_left", left_});
    tensors.push_back({"spectral_right", right_});
    tensors.push_back({"spectral_sigma", sigma_});
  }
  return tensors;
}

}  // namespace foxhunt::nn
