// A state that is carried from window to window is that of the whole session.
#include "tests/alpha/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using market::MarketKind;

namespace {

constexpr int steps = 20;

/// A model that does not learn, so that what it carries can be compared.
alpha::ModelOptions frozen(int windows) {
  alpha::ModelOptions options;
  options.trunk = {.hidden = 12, .tau_min = 0.01f};
  options.windows = windows;
  options.steps = steps;
  options.carry = true;
  options.learning_rate.peak = 0.0f;
  return options;
}

struct Carried {
  alpha::Dataset data;
  alpha::Model model;
  alpha::DeviceDataset dataset;
  alpha::TrainingWindows windows;
  Arena arena;

  Carried(Device& device, int streams)
      : data(alpha_dataset(alpha_profile(), MarketKind::baseline, 5, 8, 300)),
        model(device, frozen(streams)),
        dataset(device, data, model.options()),
        windows(alpha::training_windows(data, model.options())),
        arena(device) {
    model.plan(arena);
    dataset.plan(arena);
    arena.commit();
    dataset.upload();
    model.initialise(dataset.snapshots());
  }

  /// The state after rows [begin, end) from a state of zero, in one pass.
  std::vector<float> state_after(Device& device, std::int64_t begin, std::int64_t end) {
    alpha::CfcTrunk trunk(device, model.options().trunk, 1, static_cast<int>(end - begin));
    Arena scratch(device);
    DeviceSpan<std::int32_t> start;
    DeviceSpan<std::uint8_t> labels;
    trunk.plan(scratch);
    scratch.plan("start", 1, start);
    scratch.plan("labels", static_cast<std::size_t>(trunk.rows()) * 5, labels);
    scratch.commit();
    device.upload(start, std::vector{static_cast<std::int32_t>(begin)});
    const alpha::DeviceSnapshots& s = dataset.snapshots();
    launch(device, gather_windows_kernel, s.features, s.seconds, s.labels, start, trunk.x(), trunk.seconds(), labels,
           s.rows, 1, trunk.steps());
    trunk.forward(model.parameters());
    const std::vector<float> all = device.download(trunk.state());
    return {all.end() - model.options().trunk.hidden, all.end()};
  }
};

}  // namespace

TEST_CASE("alpha: windows in order lie end to end in their session, and say where one follows on another") {
  const alpha::Dataset data = alpha_dataset(alpha_profile(), MarketKind::baseline, 5, 8, 300);
  const alpha::TrainingWindows w = alpha::training_windows(data, frozen(1));
  REQUIRE(w.continues.size() == w.starts.size());
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < w.starts.size(); ++i) {
    const auto first = static_cast<std::size_t>(w.starts[i]);
    const bool opens = first == 0 || data.session[first] != data.session[first - 1];
    REQUIRE(w.continues[i] == !opens);
    REQUIRE(data.session[first] == data.session[first + steps - 1]);
    fresh += opens;
  }
  REQUIRE(fresh == alpha::session_ranges(data, data.splits.train).size());
  alpha::ModelOptions drawn = frozen(1);
  drawn.carry = false;
  REQUIRE(alpha::training_windows(data, drawn).starts.size() > 10 * w.starts.size());
}

TEST_CASE("alpha: a carried state is that of the whole session, bit for bit, and zero at the next one's start") {
  ON_EVERY_DEVICE(device);
  Carried carried(device, 1);
  int compared = 0;
  for (std::size_t step = 0; step < carried.windows.starts.size() + 3; ++step) {  // once around the ring, and on
    carried.model.iterate(1);
    device.synchronize();
    const std::size_t next = (step + 1) % carried.windows.starts.size();
    const std::vector<float> initial = device.download(carried.model.trunk().initial_state());
    if (!carried.windows.continues[next]) {
      REQUIRE(initial == std::vector<float>(12, 0.0f));
      continue;
    }
    std::size_t first = next;
    while (carried.windows.continues[first]) --first;
    REQUIRE(initial == carried.state_after(device, carried.windows.starts[first], carried.windows.starts[next]));
    ++compared;
  }
  REQUIRE(compared > 20);
}

TEST_CASE("alpha: each of several streams carries its own state") {
  ON_EVERY_DEVICE(device);
  constexpr std::size_t streams = 5;
  Carried carried(device, streams);
  const std::size_t count = carried.windows.starts.size();
  constexpr std::size_t taken = 3;
  carried.model.iterate(taken);
  device.synchronize();
  const std::vector<float> initial = device.download(carried.model.trunk().initial_state());
  int continued = 0;
  for (std::size_t w = 0; w < streams; ++w) {
    const std::vector<float> own(initial.begin() + static_cast<long>(12 * w),
                                 initial.begin() + static_cast<long>(12 * w + 12));
    const std::size_t begin = w * count / streams, next = begin + taken;
    CAPTURE(w, begin, next);
    std::size_t first = next;
    while (first > begin && carried.windows.continues[first]) --first;
    if (!carried.windows.continues[next]) {
      REQUIRE(own == std::vector<float>(12, 0.0f));
      continue;
    }
    REQUIRE(own == carried.state_after(device, carried.windows.starts[first], carried.windows.starts[next]));
    ++continued;
  }
  REQUIRE(continued > 0);
}
