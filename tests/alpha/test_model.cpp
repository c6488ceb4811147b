// A training step of the alpha model: it learns what can be learned, and refuses what is not finite.
#include "core/alpha/model.h"

#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr int rows = 3000, steps = 12;

/// Snapshots whose labels follow feature 3 of two rows ago: a state has to remember it.
struct Training {
  Device& device;
  Arena arena;
  alpha::DeviceSnapshots snapshots;
  alpha::Model model;

  explicit Training(Device& on, bool learnable = true)
      : device(on),
        arena(on),
        model(on, {.trunk = {.hidden = 16, .tau_min = 0.01f},
                   .windows = 24,
                   .steps = steps,
                   .learning_rate = {.peak = 0.01f},
                   .seed = 5}) {
    snapshots.rows = rows;
    arena.plan("features", rows * 40, snapshots.features);
    arena.plan("seconds", rows, snapshots.seconds);
    arena.plan("labels", rows * 5, snapshots.labels);
    arena.plan("starts", rows - steps, snapshots.starts);
    model.plan(arena);
    arena.commit();
    Random random(410);
    const std::vector<float> features = random.floats(rows * 40, -1.0f, 1.0f);
    std::vector<std::uint8_t> labels(rows * 5, no_label);
    for (std::size_t i = 2; i < rows; ++i)
      for (std::size_t z = 0; z < 5; ++z)
        labels[i * 5 + z] = learnable ? features[(i - 2) * 40 + 3] > 0.0f : random.integer(0, 1) == 1;
    std::vector<std::int32_t> starts;
    for (int i = 0; i < rows - steps; ++i) starts.push_back(i);
    device.upload(snapshots.features, features);
    device.upload(snapshots.seconds, std::vector<float>(rows, 0.2f));
    device.upload(snapshots.labels, labels);
    device.upload(snapshots.starts, starts);
    model.initialise(snapshots);
  }

  /// Trains, and gives the loss of the last step.
  float train(int count) {
    model.iterate(count);
    device.synchronize();
    return model.health().isv[isv_loss];
  }
};

}  // namespace

TEST_CASE("alpha: a state learns to remember what its labels follow, and nothing where there is nothing") {
  ON_EVERY_DEVICE(device);
  Training training(device);
  const float first = training.train(1);
  REQUIRE(std::fabs(first - 0.693f) < 0.1f);
  REQUIRE(training.train(400) < 0.3f);
  Training hopeless(device, false);
  hopeless.train(300);
  float mean = 0;
  for (int i = 0; i < 20; ++i) mean += hopeless.train(1) / 20.0f;
  REQUIRE(mean > 0.6f);
  REQUIRE(training.model.health().counters[counter_updates] == 401);
}

TEST_CASE("alpha: the same seed gives the same bits") {
  ON_EVERY_DEVICE(device);
  Training one(device), two(device);
  one.train(20);
  for (int i = 0; i < 20; ++i) two.train(1);
  REQUIRE(device.download(one.model.parameters()) == device.download(two.model.parameters()));
}

TEST_CASE("alpha: a step that meets a NaN changes nothing and says where") {
  ON_EVERY_DEVICE(device);
  Training training(device);
  training.train(5);
  const std::vector<float> before = device.download(training.model.parameters());
  const std::vector<float> features = device.download(training.snapshots.features);
  device.upload(training.snapshots.features, std::vector<float>(features.size(), NAN));
  training.train(3);
  REQUIRE(device.download(training.model.parameters()) == before);
  const alpha::Health health = training.model.health();
  REQUIRE(health.counters[counter_trips] == 3);
  REQUIRE(health.counters[counter_updates] == 5);
  REQUIRE((health.counters[counter_trip_mask] & nonfinite_loss) != 0);
  device.upload(training.snapshots.features, features);
  training.train(1);
  REQUIRE(device.download(training.model.parameters()) != before);
  for (const float p : device.download(training.model.parameters())) REQUIRE(std::isfinite(p));
}
