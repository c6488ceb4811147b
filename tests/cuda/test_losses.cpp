// Cross-entropy, expected-value and conservative losses, each with its gradient, also through the dueling streams.
#include "tests/cuda/distributional_fixture.h"
#include "tests/cuda/finite_differences.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

const std::vector<LossShape> shapes = {{1, 1, 2}, {7, 5, 51}, {33, 32, 256}, {130, 3, 21, -3.0f, 5.0f}, {1500, 2, 11}};

/// One transition whose dueling input is to be varied.
struct Transition {
  explicit Transition(Random& random)
      : raw(random.floats(static_cast<std::size_t>((shape.actions + 1) * shape.atoms), -1.5f, 1.5f)),
        target(random_distribution(random, shape.atoms)) {}
  LossShape shape = {1, 4, 9, -2.0f, 3.0f};
  std::vector<float> raw, target;
  std::vector<std::int32_t> action = {2};
  std::vector<float> target_mean = {1.3f}, weight = {0.7f};
};

std::vector<double> weighted(const std::vector<float>& losses, float factor) {
  std::vector<double> result;
  for (const float loss : losses) result.push_back(static_cast<double>(factor) * static_cast<double>(loss));
  return result;
}

/// Rows whose gradient is not zero for actions that were not taken.
int strays(const LossShape& s, const std::vector<float>& d_logits, const std::vector<std::int32_t>& action) {
  int count = 0;
  for (int row = 0; row < s.batch; ++row)
    for (int a = 0; a < s.actions; ++a)
      for (int z = 0; z < s.atoms; ++z)
        count += a != action[static_cast<std::size_t>(row)] && !(d_logits[s.logit(row, a, z)] == 0.0f);
  return count;
}

}  // namespace

TEST_CASE("kernel_distributional_loss: the cross-entropy's gradient is its slope, through the dueling streams") {
  ON_EVERY_DEVICE(device);
  Random random(80);
  const Transition t(random);
  const Streams at = dueling(device, t.shape, t.raw);
  const Loss one = c51(device, t.shape, at.logits, t.action, t.target, t.weight);
  require_gradient(t.raw, dueling_backward(device, t.shape, one.d_logits), [&](const auto& inputs) {
    LossShape many = t.shape;
    many.batch = static_cast<int>(inputs.size());
    const Streams streams = dueling(device, many, stacked(inputs));
    return weighted(c51(device, many, streams.logits, repeated(t.action, inputs.size()),
                        repeated(t.target, inputs.size()), repeated(t.weight, inputs.size()))
                        .loss,
                    t.weight[0]);
  });
}

TEST_CASE("kernel_distributional_loss: the squared error's gradient is its slope, through the dueling streams") {
  ON_EVERY_DEVICE(device);
  Random random(81);
  const Transition t(random);
  const Streams at = dueling(device, t.shape, t.raw);
  const Loss one = mse(device, t.shape, at.logits, at.q, t.action, t.target_mean, t.weight);
  require_gradient(t.raw, dueling_backward(device, t.shape, one.d_logits), [&](const auto& inputs) {
    LossShape many = t.shape;
    many.batch = static_cast<int>(inputs.size());
    const Streams streams = dueling(device, many, stacked(inputs));
    return weighted(mse(device, many, streams.logits, streams.q, repeated(t.action, inputs.size()),
                        repeated(t.target_mean, inputs.size()), repeated(t.weight, inputs.size()))
                        .loss,
                    t.weight[0]);
  });
}

TEST_CASE("kernel_distributional_loss: the conservative term's gradient is its slope, through the dueling streams") {
  ON_EVERY_DEVICE(device);
  Random random(82);
  const Transition t(random);
  const float cql_weight = 1.7f;
  const Streams at = dueling(device, t.shape, t.raw);
  const Loss one =
      cql(device, t.shape, at.logits, at.q, t.action, t.weight, cql_weight, std::vector<float>(t.shape.logits(), 0.0f));
  require_gradient(t.raw, dueling_backward(device, t.shape, one.d_logits), [&](const auto& inputs) {
    LossShape many = t.shape;
    many.batch = static_cast<int>(inputs.size());
    const Streams streams = dueling(device, many, stacked(inputs));
    return weighted(cql(device, many, streams.logits, streams.q, repeated(t.action, inputs.size()),
                        repeated(t.weight, inputs.size()), cql_weight, std::vector<float>(many.logits(), 0.0f))
                        .loss,
                    t.weight[0] * cql_weight);
  });
}

TEST_CASE("kernel_distributional_loss: gradients carry weight over batch and reach the action taken alone") {
  ON_EVERY_DEVICE(device);
  Random random(83);
  for (const LossShape& s : shapes) {
    CAPTURE(s.batch, s.actions, s.atoms);
    const std::vector<float> logits = random.floats(s.logits(), -3.0f, 3.0f);
    const std::vector<std::int32_t> action = random.integers(s.rows(), 0, s.actions - 1);
    std::vector<float> target;
    for (int i = 0; i < s.batch; ++i) {
      const std::vector<float> p = random_distribution(random, s.atoms);
      target.insert(target.end(), p.begin(), p.end());
    }
    const std::vector<float> q = random.floats(s.values(), s.v_min, s.v_max);
    const std::vector<float> target_mean = random.floats(s.rows(), s.v_min, s.v_max);
    const std::vector<float> ones(s.rows(), static_cast<float>(s.batch));
    std::vector<float> weight = random.floats(s.rows(), 0.1f, 1.0f);
    weight[0] = 0.0f;
    for (const bool squared : {false, true}) {
      const auto run = [&](const std::vector<float>& w) {
        return squared ? mse(device, s, logits, q, action, target_mean, w) : c51(device, s, logits, action, target, w);
      };
      const Loss unit = run(ones), scaled = run(weight);
      REQUIRE(same_bits(unit.loss, scaled.loss));  // the loss itself is not weighted
      REQUIRE(strays(s, unit.d_logits, action) == 0);
      Largest gap;
      for (int row = 0; row < s.batch; ++row) {
        double over_atoms = 0.0;
        for (int z = 0; z < s.atoms; ++z) {
          const std::size_t i = s.logit(row, action[static_cast<std::size_t>(row)], z);
          gap.note(static_cast<double>(unit.d_logits[i]) * weight[static_cast<std::size_t>(row)] / s.batch -
                   scaled.d_logits[i]);
          over_atoms += unit.d_logits[i];
        }
        // A softmax does not see a constant on all its logits; of the squared error q was made up, so not there.
        if (!squared) gap.note(std::fabs(over_atoms));
      }
      REQUIRE(gap.value() < 2e-5);
      REQUIRE(dot(scaled.d_logits, scaled.d_logits) + (s.batch == 1) > 0.0);
    }
  }
}

TEST_CASE("kernel_distributional_loss: the cross-entropy is least where the distribution is the target") {
  ON_EVERY_DEVICE(device);
  Random random(84);
  const LossShape s = {40, 3, 51};
  std::vector<float> target, logits(s.logits(), 0.0f);
  std::vector<double> entropy;
  const std::vector<std::int32_t> action = random.integers(s.rows(), 0, s.actions - 1);
  for (int row = 0; row < s.batch; ++row) {
    const std::vector<float> p = random_distribution(random, s.atoms);
    target.insert(target.end(), p.begin(), p.end());
    double h = 0.0;
    for (int z = 0; z < s.atoms; ++z) {
      const auto mass = static_cast<double>(p[static_cast<std::size_t>(z)]);
      h -= mass * std::log(mass);
      logits[s.logit(row, action[static_cast<std::size_t>(row)], z)] = static_cast<float>(std::log(mass)) + 5.0f;
    }
    entropy.push_back(h);
  }
  const std::vector<float> weight(s.rows(), 1.0f);
  const Loss at = c51(device, s, logits, action, target, weight);
  Largest gap;
  for (std::size_t i = 0; i < entropy.size(); ++i) gap.note(std::fabs(at.loss[i] - entropy[i]));
  REQUIRE(gap.value() < 1e-4);
  REQUIRE(largest_difference(at.d_logits, std::vector<float>(s.logits(), 0.0f)) < 1e-6);
  const Loss away = c51(device, s, random.floats(s.logits(), -3.0f, 3.0f), action, target, weight);
  for (std::size_t i = 0; i < entropy.size(); ++i) REQUIRE(away.loss[i] > entropy[i]);
}

TEST_CASE("kernel_distributional_loss: the squared error is half the distance squared, zero at the target") {
  ON_EVERY_DEVICE(device);
  const LossShape s = {3, 2, 5};
  const std::vector<float> q = {1.0f, 9.0f, 9.0f, -2.0f, 0.5f, 9.0f};
  const Loss loss =
      mse(device, s, std::vector<float>(s.logits(), 0.25f), q, {0, 1, 0}, {4.0f, -1.0f, 0.5f}, {1.0f, 1.0f, 1.0f});
  REQUIRE(loss.loss == std::vector<float>{4.5f, 0.5f, 0.0f});
  for (int a = 0; a < 2; ++a)
    for (int z = 0; z < 5; ++z) REQUIRE(loss.d_logits[s.logit(2, a, z)] == 0.0f);
  // Too low a value is raised: mass moves to the higher atoms.
  REQUIRE(loss.d_logits[s.logit(0, 0, 4)] < 0.0f);
  REQUIRE(loss.d_logits[s.logit(0, 0, 0)] > 0.0f);
}

TEST_CASE("kernel_distributional_loss: the conservative term is never negative and adds to the gradient") {
  ON_EVERY_DEVICE(device);
  Random random(85);
  for (const LossShape& s : shapes) {
    CAPTURE(s.batch, s.actions, s.atoms);
    const std::vector<float> logits = random.floats(s.logits(), -3.0f, 3.0f), before = random.whole(s.logits(), -9, 9);
    const std::vector<std::int32_t> action = random.integers(s.rows(), 0, s.actions - 1);
    const std::vector<float> ones(s.rows(), 1.0f), q = random.floats(s.values(), s.v_min, s.v_max);
    const Loss term = cql(device, s, logits, q, action, ones, 1.0f, before);
    REQUIRE(*std::min_element(term.loss.begin(), term.loss.end()) >= (s.actions == 1 ? 0.0f : -1e-6f));
    REQUIRE(same_bits(cql(device, s, logits, q, action, ones, 0.0f, before).d_logits, before));
    REQUIRE(same_bits(cql(device, s, logits, q, action, std::vector<float>(s.rows(), 0.0f), 1.0f, before).d_logits,
                      before));
    REQUIRE((largest_difference(term.d_logits, before) > 0.0) == (s.actions > 1));
    // All actions alike: the logarithm of their number.
    const Loss even = cql(device, s, logits, std::vector<float>(s.values(), 1.25f), action, ones, 1.0f, before);
    REQUIRE(largest_difference(even.loss, std::vector<float>(s.rows(), std::log(static_cast<float>(s.actions)))) <
            1e-5);
  }
}

TEST_CASE("kernel_distributional_loss: the conservative term lowers the actions not taken and raises the one taken") {
  ON_EVERY_DEVICE(device);
  Random random(86);
  const LossShape s = {1, 3, 21};
  const std::vector<float> raw = random.floats(static_cast<std::size_t>(4 * s.atoms), -0.5f, 0.5f);
  const Streams at = dueling(device, s, raw);
  const Loss term = cql(device, s, at.logits, at.q, {1}, {1.0f}, 1.0f, std::vector<float>(s.logits(), 0.0f));
  // A small step against the gradient, straight on the logits.
  std::vector<float> moved = at.logits;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= 0.01f * term.d_logits[i];
  const auto value = [&](const std::vector<float>& logits, int a) {
    LossShape single = {1, 1, s.atoms};
    std::vector<float> row(logits.begin() + a * s.atoms, logits.begin() + (a + 1) * s.atoms);
    row.resize(static_cast<std::size_t>(2 * s.atoms), 0.0f);
    return dueling(device, single, row).q[0];
  };
  REQUIRE(value(moved, 0) < value(at.logits, 0));
  REQUIRE(value(moved, 1) > value(at.logits, 1));
  REQUIRE(value(moved, 2) < value(at.logits, 2));
}

TEST_CASE("kernel_distributional_loss: extreme logits give finite losses and gradients") {
  ON_EVERY_DEVICE(device);
  Random random(87);
  for (const LossShape& s : shapes)
    for (const float size : {1e3f, 1e4f}) {
      CAPTURE(s.batch, s.actions, s.atoms, size);
      const std::vector<float> raw =
          random.floats(s.rows() * static_cast<std::size_t>((s.actions + 1) * s.atoms), -size, size);
      const Streams at = dueling(device, s, raw);
      const std::vector<std::int32_t> action = random.integers(s.rows(), 0, s.actions - 1);
      const std::vector<float> ones(s.rows(), 1.0f);
      std::vector<float> target(s.rows() * static_cast<std::size_t>(s.atoms), 0.0f);
      for (std::size_t row = 0; row < s.rows(); ++row) target[row * static_cast<std::size_t>(s.atoms)] = 1.0f;
      const Loss first = c51(device, s, at.logits, action, target, ones);
      const Loss second = mse(device, s, at.logits, at.q, action, std::vector<float>(s.rows(), s.v_min), ones);
      const Loss third = cql(device, s, at.logits, at.q, action, ones, 1.0f, std::vector<float>(s.logits(), 0.0f));
      const Loss wild = cql(device, s, at.logits, random.floats(s.values(), -size, size), action, ones, 1.0f,
                            std::vector<float>(s.logits(), 0.0f));
      for (const Loss* loss : {&first, &second, &third, &wild}) {
        REQUIRE(all_finite(loss->loss));
        REQUIRE(all_finite(loss->d_logits));
      }
      REQUIRE(*std::min_element(first.loss.begin(), first.loss.end()) >= 0.0f);
    }
}

TEST_CASE("kernel_distributional_loss: a NaN among the logits shows in loss and gradient") {
  ON_EVERY_DEVICE(device);
  const LossShape s = {2, 2, 5};
  std::vector<float> logits(s.logits(), 0.0f);
  logits[s.logit(1, 0, 3)] = NAN;
  const Loss loss = c51(device, s, logits, {0, 0}, std::vector<float>(10, 0.2f), {1.0f, 1.0f});
  REQUIRE(std::isfinite(loss.loss[0]));
  REQUIRE(std::isnan(loss.loss[1]));
  REQUIRE(std::isnan(loss.d_logits[s.logit(1, 0, 3)]));
}
