#pragma once
#include <string>
#include <vector>

#include "core/device/timing.h"
#include "core/dqn/trainer.h"

namespace foxhunt::dqn {

/// One training iteration of a profile, and each of its kernels alone.
struct IterationBenchmark {
  Timing iteration;
  Timing watched;  ///< with the host's side of the NaN guard as training has it: health word, kept states
  int episodes, batch;
  std::size_t kernels;  ///< launches an iteration
  std::size_t memory_bytes;
  std::vector<KernelTime> kernels_alone;
};

/// Warms up past min_replay_size, then times `repeats` runs of `iterations` iterations each.
IterationBenchmark benchmark_iteration(Trainer& trainer, int iterations, int repeats, bool each_kernel);
std::string to_text(const IterationBenchmark& benchmark);

}  // namespace foxhunt::dqn
