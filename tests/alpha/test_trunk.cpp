// The whole of the alpha model, forwards and back.
#include "core/alpha/trunk.h"

#include <set>

#include "core/alpha/snapshot_features.h"
#include "tests/cuda/finite_differences.h"
#include "tests/market/market_test.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::CfcTrunk;
using alpha::TrunkLayout;

namespace {

/// A trunk with random inputs and labels.
struct Loaded {
  Device& device;
  CfcTrunk trunk;
  Arena arena;
  DeviceSpan<float> parameters, gradient, loss;
  DeviceSpan<std::uint8_t> labels;

  Loaded(Device& on, Random& random, int hidden, int windows, int steps)
      : device(on), trunk(on, {.hidden = hidden}, windows, steps), arena(on) {
    const auto n = static_cast<std::size_t>(trunk.layout().parameters()), rows = static_cast<std::size_t>(trunk.rows());
    trunk.plan(arena);
    arena.plan("parameters", n, parameters);
    arena.plan("gradient", n, gradient);
    arena.plan("loss", rows, loss);
    arena.plan("labels", rows * 5, labels);
    arena.commit();
    device.upload(trunk.x(), random.floats(rows * 40, -1.0f, 1.0f));
    device.upload(trunk.seconds(), random.floats(rows, 0.0f, 1.0f));
    device.upload(trunk.initial_state(), random.floats(static_cast<std::size_t>(windows * hidden), -0.5f, 0.5f));
    std::vector<std::uint8_t> known(rows * 5);
    for (std::size_t i = 0; i < known.size(); ++i)  // the first row of a window is before all steps
      known[i] =
          i / 5 % static_cast<std::size_t>(steps + 1) == 0 ? no_label : static_cast<std::uint8_t>(random.integer(0, 2));
    device.upload(labels, known);
  }

  double loss_of(const std::vector<float>& values) {
    device.upload(parameters, values);
    trunk.forward(parameters);
    launch(device, bce_loss_kernel, trunk.logits(), labels, loss, trunk.d_logits(), trunk.rows(), 1.0f);
    double sum = 0;
    for (const float x : device.download(loss)) sum += static_cast<double>(x);
    return sum;
  }
};

}  // namespace

TEST_CASE("alpha: the gradient of every matrix, through the whole window, is the slope of the loss") {
  ON_EVERY_DEVICE(device);
  Random random(400);
  Loaded loaded(device, random, 6, 5, 7);
  std::vector<float> values = loaded.trunk.layout().initial_parameters(3, 0.01f);
  for (float& v : values) v += random.uniform(-0.3f, 0.3f);
  loaded.loss_of(values);
  loaded.trunk.backward(loaded.parameters, loaded.gradient);
  const std::vector<float> gradient = device.download(loaded.gradient);
  for (const auto m : {TrunkLayout::input, TrunkLayout::recurrent, TrunkLayout::projector, TrunkLayout::heads}) {
    const auto first = static_cast<std::size_t>(loaded.trunk.layout().table().offset[m]);
    const std::size_t count = loaded.trunk.layout().floats(m);
    CAPTURE(m);
    const std::vector<float> at(values.begin() + static_cast<long>(first),
                                values.begin() + static_cast<long>(first + count));
    const std::vector<float> slope(gradient.begin() + static_cast<long>(first),
                                   gradient.begin() + static_cast<long>(first + count));
    require_gradient(at, slope, [&](const std::vector<std::vector<float>>& tried) {
      std::vector<double> losses;
      for (const std::vector<float>& part : tried) {
        std::vector<float> moved = values;
        std::copy(part.begin(), part.end(), moved.begin() + static_cast<long>(first));
        losses.push_back(loaded.loss_of(moved));
      }
      return losses;
    });
  }
}

TEST_CASE("alpha: time constants of new parameters reach from ten milliseconds to ten seconds") {
  const TrunkLayout layout(64);
  const std::vector<float> values = layout.initial_parameters(1, 0.001f);
  const float* theta = values.data() + layout.table().offset[TrunkLayout::recurrent] + 64 * 64;
  const auto tau = [&](int j) { return 0.001 + std::log1p(std::exp(static_cast<double>(theta[j]))); };
  REQUIRE(tau(0) == Approx(0.01).epsilon(0.01));
  REQUIRE(tau(63) == Approx(10.0).epsilon(0.01));
  for (int j = 1; j < 64; ++j) REQUIRE(tau(j) > tau(j - 1));
  REQUIRE(layout.initial_parameters(1, 0.001f) == values);
  REQUIRE(layout.initial_parameters(2, 0.001f) != values);
}

TEST_CASE("alpha: a width that a block cannot carry is refused") {
  for (const int hidden : {0, -1, 129}) {
    CAPTURE(hidden);
    market::require_says(market::error_of(ExitCode::usage, [&] { TrunkLayout{hidden}; }), {"alpha.hidden", "128"});
  }
}

TEST_CASE("alpha: every feature has a name of its own and a meaning") {
  std::set<std::string> names;
  for (const auto& feature : alpha::snapshot_feature_list()) {
    REQUIRE_FALSE(feature.help.empty());
    names.insert(feature.name);
  }
  REQUIRE(names.size() == snapshot_features);
}
