#include "core/dqn/benchmark.h"

#include <fmt/format.h>

namespace foxhunt::dqn {

IterationBenchmark benchmark_iteration(Trainer& trainer, int iterations, int repeats, bool each_kernel) {
  Device& device = trainer.device();
  Agent& agent = trainer.agent();
  const DqnConfig& c = agent.config();
  // Until the ring has been written once: a benchmark of an empty replay would flatter.
  trainer.advance(c.length + 8);
  IterationBenchmark result{};
  result.episodes = c.episodes;
  result.batch = c.batch;
  result.memory_bytes = trainer.memory_bytes();
  result.kernels = agent.program().launches().size();
  result.iteration = time_repeats(device, iterations, repeats, [&] { agent.iterate(iterations); });
  result.watched = time_repeats(device, iterations, repeats, [&] { trainer.advance(iterations); });
  if (!each_kernel) return result;
  result.kernels_alone = time_launches(device, agent.program());
  return result;
}

std::string to_text(const IterationBenchmark& b) {
  std::string text = fmt::format(
      "one iteration: {:.1f} us (median of {}; {:.1f} to {:.1f}), {:.2f} M steps/s, {} kernels, "
      "{} episodes, batch {}, memory {:.1f} MiB\n",
      b.iteration.median, b.iteration.repeats, b.iteration.fastest, b.iteration.slowest,
      b.episodes / b.iteration.median, b.kernels, b.episodes, b.batch, static_cast<double>(b.memory_bytes) / (1 << 20));
  text += fmt::format("watched by the guard: {:.1f} us ({:.1f} to {:.1f})\n", b.watched.median, b.watched.fastest,
                      b.watched.slowest);
  double sum = 0;
  for (const auto& kernel : b.kernels_alone) {
    text += fmt::format("  {:<34}{:>9.2f} us\n", kernel.name, kernel.microseconds);
    sum += kernel.microseconds;
  }
  if (!b.kernels_alone.empty()) text += fmt::format("  {:<34}{:>9.2f} us\n", "sum", sum);
  return text;
}

}  // namespace foxhunt::dqn
