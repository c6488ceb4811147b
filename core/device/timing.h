#pragma once
#include <algorithm>
#include <chrono>
#include <vector>

#include "core/device/device.h"

namespace foxhunt {

/// Time of repeated work, in microseconds a unit.
struct Timing {
  double median, fastest, slowest;
  int repeats;
};

/// Times `repeats` calls of `work`, which does `units` of something on the device.
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

struct KernelTime {
  std::string name;
  double microseconds;
};

/// Each launch of a program alone: repeated within one recorded program, so its data is warm.
inline std::vector<KernelTime> time_launches(Device& device, const Program& program) {
  constexpr int copies = 20;
  std::vector<KernelTime> times;
  for (const Launch& launch : program.launches()) {
    const auto repeated = device.record([&] {
      for (int i = 0; i < copies; ++i) device.submit(launch);
    });
    repeated->run();
    const Timing alone = time_repeats(device, copies, 7, [&] { repeated->run(); });
    times.push_back({launch.kernel ? launch.kernel->name : "copy", alone.median});
  }
  return times;
}

}  // namespace foxhunt
