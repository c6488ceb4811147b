// What a split is judged by: the model run through it as it would run live.
#include "core/alpha/evaluator.h"

#include "core/alpha/live.h"
#include "tests/alpha/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using market::MarketKind;

namespace {

struct Evaluated {
  alpha::Dataset data;
  alpha::TrunkShape shape{.hidden = 20, .tau_min = 0.01f};
  alpha::DeviceDataset dataset;
  alpha::Evaluator evaluator;
  Arena arena;
  DeviceSpan<float> parameters;

  static alpha::ModelOptions options() {
    alpha::ModelOptions options;
    options.steps = 32;
    return options;
  }
  /// Sessions of more rows than one forward pass of the evaluator takes, and of different lengths.
  explicit Evaluated(Device& device)
      : data(alpha_dataset(alpha_profile(), MarketKind::baseline, 7, 4, 1300)),
        dataset(device, data, options()),
        evaluator(device, shape, data, {data.splits.validation.begin + 100, data.splits.test.end}),
        arena(device) {
    dataset.plan(arena);
    evaluator.plan(arena);
    const alpha::TrunkLayout layout(shape.hidden);
    arena.plan("parameters", static_cast<std::size_t>(layout.parameters()), parameters);
    arena.commit();
    dataset.upload();
    Random random(430);
    std::vector<float> values = layout.initial_parameters(2, shape.tau_min);
    for (float& v : values) v += random.uniform(-0.2f, 0.2f);
    device.upload(parameters, values);
  }
};

}  // namespace

TEST_CASE(
    "alpha: a split is evaluated as the live path would answer, snapshot by snapshot, the state to the last bit") {
  ON_EVERY_DEVICE(device);
  Evaluated e(device);
  const std::vector<float> probability = e.evaluator.run(e.parameters, e.dataset.snapshots());
  REQUIRE(e.evaluator.sessions() >= 2);
  alpha::LiveModel live(device, e.shape, e.data.tick);
  Arena arena(device);
  live.plan(arena);
  arena.commit();
  live.initialise(device.download(e.parameters));
  const market::Split split = e.evaluator.split();
  REQUIRE(probability.size() == static_cast<std::size_t>(split.rows()) * 5);
  double largest = 0;
  for (std::int64_t row = split.begin - 1; row < split.end; ++row) {
    Mbp10RawInput book = e.data.input[static_cast<std::size_t>(row)];
    if (row < split.begin) book.first = 1, book.seconds = 0;  // known, but before the state begins
    live.snapshot().write(book);
    live.perceive();
    const Prediction answer = live.wait();
    for (std::size_t h = 0; row >= split.begin && h < 5; ++h) {
      const float expected = probability[static_cast<std::size_t>(row - split.begin) * 5 + h];
      const double off = std::abs(static_cast<double>(answer.probability[h]) - static_cast<double>(expected));
      largest = off <= largest ? largest : off;
    }
  }
  device.synchronize();
  REQUIRE(largest < 1e-6);
  // After the last session, which ends with the table, nothing moves the state any more.
  const std::vector<float> states = device.download(e.evaluator.state());
  REQUIRE(std::vector<float>(states.end() - e.shape.hidden, states.end()) == device.download(live.state()));
}

TEST_CASE("alpha: features on the device are those of the kernel over all rows at once") {
  ON_EVERY_DEVICE(device);
  const profile::Profile p = alpha_profile();
  const alpha::Dataset data = alpha_dataset(p, MarketKind::baseline, 3, 4, 9000);  // more than one part of the upload
  alpha::DeviceDataset dataset(device, data, alpha::model_options(p));
  Arena arena(device);
  DeviceSpan<Mbp10RawInput> before, books;
  DeviceSpan<float> features;
  dataset.plan(arena);
  arena.plan("before", 1, before);
  arena.plan("books", data.rows(), books);
  arena.plan("features", data.rows() * 40, features);
  arena.commit();
  dataset.upload();
  device.upload(books, data.input);
  launch(device, snap_feature_assemble_kernel, before, books, features, static_cast<int>(data.rows()), data.tick);
  REQUIRE(device.download(dataset.snapshots().features) == device.download(features));
  REQUIRE(device.download(dataset.snapshots().labels) == data.labels);
}

TEST_CASE("alpha: scores of perfect, constant and non-finite probabilities") {
  const alpha::Dataset data = alpha_dataset(alpha_profile(), MarketKind::baseline);
  const market::Split split = data.splits.test;
  std::vector<float> perfect, constant(static_cast<std::size_t>(split.rows()) * 5, 0.5f);
  for (std::size_t i = 0; i < constant.size(); ++i)
    perfect.push_back(data.labels[static_cast<std::size_t>(split.begin) * 5 + i] == 1 ? 1.0f : 0.0f);
  const alpha::Scores best = alpha::score(data, split, perfect);
  REQUIRE(best.mean_auc == Approx(1.0));
  REQUIRE(best.loss < 1e-5);
  const alpha::Scores coin = alpha::score(data, split, constant);
  REQUIRE(coin.mean_auc == Approx(0.5));
  REQUIRE(coin.loss == Approx(std::log(2.0)));
  constant[17] = NAN;
  const alpha::Scores none = alpha::score(data, split, constant);
  REQUIRE(std::isnan(none.loss));
  REQUIRE(std::isnan(none.mean_auc));
}
