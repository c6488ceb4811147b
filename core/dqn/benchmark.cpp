#include "core/dqn/benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace foxhunt::dqn {
namespace {

/// Microseconds a unit of `work`, which does `units` of them.
template <class Work>
Timing time_repeats(Device& device, int units, int repeats, const Work& work) {
  std::vector<double> times;
  for (int r = 0; r < repeats; ++r) {
    device.synchronize();
    const auto start = std::chrono::steady_clock::now();
    work();
    device.synchronize();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count() /
                    units);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back(), repeats};
}

}  // namespace

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
  constexpr int copies = 20;
  for (const Launch& launch : agent.program().launches()) {
    const auto program = device.record([&] {
      for (int i = 0; i < copies; ++i) device.submit(launch);
    });
    program->run();
    const Timing alone = time_repeats(device, copies, 7, [&] { program->run(); });
    result.kernels_alone.push_back({launch.kernel ? launch.kernel->name : "copy", alone.median});
  }
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
