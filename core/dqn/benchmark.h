#pragma once
#include <string>
#include <vector>

#include "core/dqn/trainer.h"

namespace foxhunt::dqn {

/// Time of repeated work, in microseconds a unit.
struct Timing {
  double median, fastest, slowest;
  int repeats;
};

/// One training iteration of a profile, and each of its kernels alone.
struct IterationBenchmark {
  Timing iteration;
  Timing watched;  ///< with the host's side of the NaN guard as training has it: health word, kept states
  int episodes, batch;
  std::size_t kernels;  ///< launches an iteration
  std::size_t memory_bytes;
  struct Kernel {
    std::string name;
    double microseconds;
  };
  std::vector<Kernel> kernels_alone;  ///< a launch repeated within one recorded program, so its data is warm
};

/// Warms up past min_replay_size, then times `repeats` runs of `iterations` iterations each.
IterationBenchmark benchmark_iteration(Trainer& trainer, int iterations, int repeats, bool each_kernel);
std::string to_text(const IterationBenchmark& benchmark);

}  // namespace foxhunt::dqn
