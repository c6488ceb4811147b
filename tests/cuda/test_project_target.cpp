#include "tests/cuda/distributional_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

const std::vector<LossShape> shapes = {{1, 1, 2}, {7, 5, 51}, {33, 32, 256}, {130, 3, 21, -3.0f, 5.0f}, {1500, 2, 11}};

/// 21 atoms, one unit of value apart: atom z stands for z - 10.
const LossShape unit_support = {1, 2, 21};

/// All mass of the next distribution on one atom, for both actions.
TargetInputs one_atom(int atom, float reward, float discount) {
  TargetInputs in(unit_support);
  in.next_logits[unit_support.logit(0, 0, atom)] = in.next_logits[unit_support.logit(0, 1, atom)] = 500.0f;
  in.returns[0] = reward;
  in.discounts[0] = discount;
  return in;
}

void require_masses(const Target& target, const std::vector<std::pair<int, float>>& masses) {
  std::vector<float> expected(target.distribution.size(), 0.0f);
  for (const auto& [atom, mass] : masses) expected[static_cast<std::size_t>(atom)] = mass;
  REQUIRE(largest_difference(target.distribution, expected) < 1e-5);
}

}  // namespace

TEST_CASE("kernel_distributional_loss: every target sums to one, wherever the returns fall") {
  ON_EVERY_DEVICE(device);
  Random random(70);
  for (const LossShape& s : shapes)
    for (const float size : {1.0f, 1e4f}) {  // of the logits
      TargetInputs in(s);
      in.next_q = random.floats(s.values(), -1.0f, 1.0f);
      in.next_logits = random.floats(s.logits(), -size, size);
      for (std::size_t i = 0; i < s.rows(); ++i) {
        const float cases[] = {0.0f,           s.support(0),   s.support(s.atoms / 2),           s.support(s.atoms - 1),
                               s.v_max + 1e6f, s.v_min - 1e6f, random.uniform(s.v_min, s.v_max), 1e30f,
                               -1e30f};
        in.returns[i] = cases[i % 9];
        in.discounts[i] = i % 4 == 0 ? 0.0f : i % 4 == 1 ? 1.0f : random.uniform(0.5f, 1.0f);
      }
      const Target target = project(device, s, in);
      CAPTURE(s.batch, s.actions, s.atoms, size);
      Largest from_one;
      for (std::size_t i = 0; i < s.rows(); ++i) {
        const auto first = target.distribution.begin() + static_cast<std::ptrdiff_t>(i) * s.atoms;
        from_one.note(std::fabs(sum({first, first + s.atoms}) - 1.0));
      }
      REQUIRE(from_one.value() < 2e-5);
      REQUIRE(*std::min_element(target.distribution.begin(), target.distribution.end()) >= 0.0f);
      REQUIRE(*std::min_element(target.mean.begin(), target.mean.end()) >= s.v_min - 1e-4f);
      REQUIRE(*std::max_element(target.mean.begin(), target.mean.end()) <= s.v_max + 1e-4f);
      REQUIRE(target.counters == in.counters);
    }
}

TEST_CASE("kernel_distributional_loss: a value on an atom keeps all its mass there") {
  ON_EVERY_DEVICE(device);
  for (int atom = 0; atom <= 20; ++atom) {
    CAPTURE(atom);
    const auto value = static_cast<float>(atom - 10);
    require_masses(project(device, unit_support, one_atom(3, value, 0.0f)), {{atom, 1.0f}});
    require_masses(project(device, unit_support, one_atom(10, value, 1.0f)), {{atom, 1.0f}});
  }
}

TEST_CASE("kernel_distributional_loss: a value between two atoms is shared by nearness") {
  ON_EVERY_DEVICE(device);
  require_masses(project(device, unit_support, one_atom(0, 2.25f, 0.0f)), {{12, 0.75f}, {13, 0.25f}});
  require_masses(project(device, unit_support, one_atom(0, -9.5f, 0.0f)), {{0, 0.5f}, {1, 0.5f}});
  require_masses(project(device, unit_support, one_atom(14, 1.0f, 0.7f)), {{13, 0.2f}, {14, 0.8f}});  // 1 + 0.7 * 4
}

TEST_CASE("kernel_distributional_loss: beyond either end all mass is on the end") {
  ON_EVERY_DEVICE(device);
  for (const float beyond : {10.001f, 11.0f, 1e6f, 1e38f}) {
    CAPTURE(beyond);
    require_masses(project(device, unit_support, one_atom(10, beyond, 1.0f)), {{20, 1.0f}});
    require_masses(project(device, unit_support, one_atom(10, -beyond, 0.99f)), {{0, 1.0f}});
  }
  require_masses(project(device, unit_support, one_atom(20, 5.0f, 1.0f)), {{20, 1.0f}});
}

TEST_CASE("kernel_distributional_loss: no return and a discount of one change nothing") {
  ON_EVERY_DEVICE(device);
  Random random(71);
  TargetInputs in(unit_support);
  const std::vector<float> p = random_distribution(random, unit_support.atoms);
  for (int z = 0; z < unit_support.atoms; ++z)
    in.next_logits[unit_support.logit(0, 0, z)] = std::log(p[static_cast<std::size_t>(z)]) + 3.0f;
  REQUIRE(largest_difference(project(device, unit_support, in).distribution, p) < 1e-5);
}

TEST_CASE("kernel_distributional_loss: inside the support the mean is return plus discount times the next mean") {
  ON_EVERY_DEVICE(device);
  Random random(72);
  for (const LossShape& wide : shapes) {
    LossShape s = wide;
    s.actions = 1;
    const float half = 0.5f * (s.v_max - s.v_min), middle = 0.5f * (s.v_max + s.v_min);
    // With one action the logits of the dueling streams are the value stream, and its Q the mean that is wanted.
    std::vector<float> raw;
    for (int i = 0; i < s.batch; ++i) {
      const std::vector<float> value = random.floats(static_cast<std::size_t>(s.atoms), -3.0f, 3.0f);
      raw.insert(raw.end(), value.begin(), value.end());
      raw.insert(raw.end(), static_cast<std::size_t>(s.atoms), 0.0f);
    }
    const Streams next = dueling(device, s, raw);
    TargetInputs in(s);
    in.next_q = next.q;
    in.next_logits = next.logits;
    std::vector<float> expected;
    for (std::size_t i = 0; i < s.rows(); ++i) {
      in.discounts[i] = random.uniform(0.1f, 0.5f);
      in.returns[i] = middle * (1.0f - in.discounts[i]) + random.uniform(-0.4f, 0.4f) * half;
      expected.push_back(in.returns[i] + in.discounts[i] * next.q[i]);
    }
    CAPTURE(s.batch, s.atoms);
    REQUIRE(largest_difference(project(device, s, in).mean, expected) < 1e-4 * half);
  }
}

TEST_CASE("kernel_distributional_loss: double selection, the online network chooses and the target network values") {
  ON_EVERY_DEVICE(device);
  LossShape s = {3, 4, 21};
  TargetInputs in(s);
  for (int row = 0; row < 3; ++row)
    for (int a = 0; a < 4; ++a) in.next_logits[s.logit(row, a, 20 - 5 * a)] = 500.0f;  // the target network prefers 0
  in.next_q = {1.0f,  2.0f,  9.0f,  3.0f,                                              // the online network chooses 2
               -5.0f, -1.0f, -2.0f, -3.0f,                                             // 1
               4.0f,  7.0f,  7.0f,  7.0f};                                             // the first of equals, 1
  const Target target = project(device, s, in);
  REQUIRE(std::fabs(target.mean[0] - 0.0f) < 1e-4f);
  REQUIRE(std::fabs(target.mean[1] - 5.0f) < 1e-4f);
  REQUIRE(std::fabs(target.mean[2] - 5.0f) < 1e-4f);
}

TEST_CASE("kernel_distributional_loss: importance weights are (least priority / priority) ^ beta") {
  ON_EVERY_DEVICE(device);
  LossShape s = {5, 2, 11};
  TargetInputs in(s);
  in.priorities = {0.5f, 2.0f, 8.0f, 0.5f, 4.5f};
  in.counters[counter_min_priority] = std::bit_cast<std::uint32_t>(0.5f);
  REQUIRE(largest_difference(project(device, s, in).weight, {1.0f, 0.5f, 0.25f, 1.0f, 1.0f / 3.0f}) < 1e-6);
  in.isv[isv_beta] = 1.0f;
  REQUIRE(largest_difference(project(device, s, in).weight, {1.0f, 0.25f, 0.0625f, 1.0f, 1.0f / 9.0f}) < 1e-6);
  in.isv[isv_beta] = 0.0f;
  REQUIRE(largest_difference(project(device, s, in).weight, std::vector<float>(5, 1.0f)) == 0.0);
}

TEST_CASE("kernel_distributional_loss: an iteration that does not learn has weights of zero and counts nothing") {
  ON_EVERY_DEVICE(device);
  LossShape s = {3, 2, 11};
  TargetInputs in(s);
  in.counters[counter_learning] = 0;
  in.counters[counter_min_priority] = std::bit_cast<std::uint32_t>(INFINITY);
  in.priorities = {0.0f, 1.0f, 0.0f};
  in.returns = {NAN, 0.0f, INFINITY};
  const Target target = project(device, s, in);
  REQUIRE(target.weight == std::vector<float>(3, 0.0f));
  REQUIRE(target.counters == in.counters);
}

TEST_CASE("kernel_distributional_loss: what is not finite is counted by kind") {
  ON_EVERY_DEVICE(device);
  LossShape s = {4, 2, 11};
  const auto met = [&](auto change) {
    TargetInputs in(s);
    change(in);
    const Target target = project(device, s, in);
    return std::pair{target.counters[counter_nonfinite], target.counters[counter_nonfinite_mask]};
  };
  using Met = std::pair<std::uint32_t, std::uint32_t>;
  REQUIRE(met([](TargetInputs&) {}) == Met{0, 0});
  REQUIRE(met([](TargetInputs& in) { in.returns[2] = NAN; }) == Met{1, nonfinite_return});
  REQUIRE(met([](TargetInputs& in) { in.returns[0] = INFINITY, in.returns[3] = -INFINITY; }) ==
          Met{2, nonfinite_return});
  REQUIRE(met([](TargetInputs& in) { in.discounts[1] = NAN; }) == Met{1, nonfinite_return});
  REQUIRE(met([&](TargetInputs& in) { in.next_logits[s.logit(1, 0, 5)] = NAN; }) == Met{1, nonfinite_target});
  REQUIRE(met([&](TargetInputs& in) { in.next_logits[s.logit(3, 0, 10)] = INFINITY; }) == Met{1, nonfinite_target});
  REQUIRE(met([](TargetInputs& in) { in.priorities[0] = 0.0f; }) == Met{1, nonfinite_priority});
  REQUIRE(met([](TargetInputs& in) { in.priorities[0] = NAN; }) == Met{1, nonfinite_priority});
  REQUIRE(met([](TargetInputs& in) { in.isv[isv_beta] = NAN, in.priorities[0] = 2.0f; }) == Met{1, nonfinite_priority});
}

TEST_CASE("kernel_distributional_loss: no mass is lost at an end, however the support is rounded") {
  ON_EVERY_DEVICE(device);
  Random random(73);
  for (int round = 0; round < 40; ++round) {
    const float low = random.uniform(-9.0f, -1.0f);
    const LossShape s = {2, 1, 256, low, low + random.uniform(1.0f, 9.0f)};
    TargetInputs in(s);
    in.next_logits[s.logit(0, 0, 100)] = in.next_logits[s.logit(1, 0, 100)] = 500.0f;
    in.returns = {1e6f, -1e6f};
    const Target target = project(device, s, in);
    CAPTURE(s.v_min, s.v_max);
    // Rounding may move a little to the neighbour.
    REQUIRE(std::fabs(target.distribution[254] + target.distribution[255] - 1.0f) < 2e-6f);
    REQUIRE(std::fabs(target.distribution[256] + target.distribution[257] - 1.0f) < 2e-6f);
  }
}
