#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/alpha/model.h"
#include "core/device/launch.h"
#include "core/device/timing.h"

namespace foxhunt::app {
namespace {

struct AlphaBenchOptions {
  std::string device = "auto";
  int windows = 512, steps = 128, hidden = 128, iterations = 50, repeats = 20, snapshots = 1'000'000;
};

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// Snapshots of random books and labels: their values decide nothing about the time.
struct Snapshots {
  DeviceSpan<Mbp10RawInput> raw, copy, before;
  alpha::DeviceSnapshots device;

  void plan(Arena& arena, const AlphaBenchOptions& o) {
    device.rows = o.snapshots;
    arena.plan("bench.raw", size(o.snapshots), raw);
    arena.plan("bench.copy", size(o.snapshots), copy);
    arena.plan("bench.before", 1, before);
    arena.plan("snapshots.features", size(o.snapshots) * snapshot_features, device.features);
    arena.plan("snapshots.seconds", size(o.snapshots), device.seconds);
    arena.plan("snapshots.labels", size(o.snapshots) * alpha_horizons, device.labels);
    arena.plan("snapshots.starts", size(o.snapshots - o.steps), device.starts);
  }

  void fill(Device& on, const AlphaBenchOptions& o) const {
    std::mt19937 random(1);
    const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
    std::vector<Mbp10RawInput> books(size(o.snapshots));
    for (Mbp10RawInput& book : books) {
      for (int l = 0; l < book_levels; ++l)
        book.level[l] = {5000 - l, 5001 + l, 1 + below(99), 1 + below(99), 1 + below(9), 1 + below(9)};
      book.trade_price = 5000, book.buy_volume = below(5), book.sell_volume = below(5), book.seconds = 0.1f;
    }
    on.upload(raw, books);
    on.upload(device.seconds, std::vector<float>(size(o.snapshots), 0.1f));
    std::vector<std::uint8_t> labels(device.labels.size);
    for (std::uint8_t& label : labels) label = static_cast<std::uint8_t>(below(2));
    on.upload(device.labels, labels);
    std::vector<std::int32_t> starts(device.starts.size);
    for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<std::int32_t>(i);
    on.upload(device.starts, starts);
  }
};

void print(const char* what, const Timing& t) {
  fmt::print(std::cout, "{}: {:.1f} us (median of {}; {:.1f} to {:.1f})\n", what, t.median, t.repeats, t.fastest,
             t.slowest);
}

void bench(const AlphaBenchOptions& o) {
  if (o.snapshots <= o.steps)
    throw Error(ExitCode::usage, fmt::format("--snapshots {} must be more than --steps {}", o.snapshots, o.steps));
  const std::unique_ptr<Device> device = open_device(o.device);
  fmt::print(std::cout, "alpha on {}\n", device->description());
  alpha::Model model(*device, {.trunk = {.hidden = o.hidden, .tau_min = 0.01f},
                               .windows = o.windows,
                               .steps = o.steps,
                               .learning_rate = {.peak = 1e-3f}});
  Arena arena(*device);
  Snapshots snapshots;
  snapshots.plan(arena, o);
  model.plan(arena);
  arena.commit();
  snapshots.fill(*device, o);
  model.initialise(snapshots.device);

  const auto assemble = [&] {
    launch(*device, snap_feature_assemble_kernel, snapshots.before, snapshots.raw, snapshots.device.features,
           o.snapshots, std::int64_t{1});
  };
  assemble();
  const Timing features = time_repeats(*device, 1, o.repeats, assemble);
  const Timing copy = time_repeats(
      *device, 1, o.repeats, [&] { device->copy(snapshots.copy, DeviceSpan<const Mbp10RawInput>(snapshots.raw)); });
  print(fmt::format("features of {} snapshots", o.snapshots).c_str(), features);
  print("a copy of the same", copy);
  fmt::print(std::cout, "  ratio {:.2f}\n", features.median / copy.median);

  model.iterate(5);
  const Timing step = time_repeats(*device, o.iterations, o.repeats, [&] { model.iterate(o.iterations); });
  print(fmt::format("one training step of {} windows x {} snapshots, hidden {}", o.windows, o.steps, o.hidden).c_str(),
        step);
  for (const KernelTime& kernel : time_launches(*device, model.program()))
    fmt::print(std::cout, "  {:<38}{:>9.2f} us\n", kernel.name, kernel.microseconds);
}

}  // namespace

void add_bench_alpha(CLI::App& bench_command, ExitCode& result) {
  const auto o = std::make_shared<AlphaBenchOptions>();
  CLI::App* command =
      bench_command.add_subcommand("alpha", "Time the alpha model: features, a training step, its kernels");
  command->add_option("--device", o->device, "auto, host or cuda:N")->capture_default_str();
  const auto number = [&](const char* name, int& value, const char* help, int most) {
    command->add_option(name, value, help)->check(CLI::Range(1, most))->capture_default_str();
  };
  number("--windows", o->windows, "Windows of a training step", 1 << 16);
  number("--steps", o->steps, "Snapshots of a window", 1 << 12);
  number("--hidden", o->hidden, "Width of the trunk", max_hidden);
  number("--snapshots", o->snapshots, "Snapshots to make features of", 20'000'000);
  number("--iterations", o->iterations, "Training steps in one timed run", 1 << 20);
  number("--repeats", o->repeats, "Timed runs; the median is reported", 1000);
  command->callback([o, &result] {
    bench(*o);
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app
