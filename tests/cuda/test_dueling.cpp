#include "tests/cuda/finite_differences.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

struct Shape {
  int rows, actions, atoms, width;
  std::size_t logits() const { return static_cast<std::size_t>(rows * actions * atoms); }
  std::size_t raw() const { return static_cast<std::size_t>(rows * width); }
};
const std::vector<Shape> shapes = {{1, 1, 2, 4},      {3, 2, 5, 15},      {37, 5, 51, 320},
                                   {130, 3, 33, 133}, {2, 32, 256, 8448}, {1031, 4, 7, 35}};
constexpr float v_min = -10.0f, v_max = 10.0f;

struct Streams {
  std::vector<float> logits, q;
};

Streams forward(Device& device, const std::vector<float>& raw, const Shape& s) {
  const TestBuffer<float> input(device, raw);
  TestBuffer<float> logits(device, s.logits()), q(device, static_cast<std::size_t>(s.rows * s.actions));
  launch_guarded(device, dueling_forward_kernel, input, logits, q, s.rows, s.actions, s.atoms, s.width, v_min, v_max);
  REQUIRE(logits.unwritten() == 0);
  REQUIRE(q.unwritten() == 0);
  return {logits.download(), q.download()};
}

std::vector<float> backward(Device& device, const std::vector<float>& d_logits, const Shape& s) {
  const TestBuffer<float> slope(device, d_logits);
  TestBuffer<float> d_raw(device, s.raw());
  launch_guarded(device, dueling_backward_kernel, slope, d_raw, s.rows, s.actions, s.atoms, s.width);
  REQUIRE(d_raw.unwritten() == 0);
  return d_raw.download();
}

/// Index of an advantage in raw, of a logit in logits.
std::size_t advantage(const Shape& s, int row, int action, int atom) {
  return static_cast<std::size_t>(row * s.width + (action + 1) * s.atoms + atom);
}
std::size_t logit(const Shape& s, int row, int action, int atom) {
  return static_cast<std::size_t>((row * s.actions + action) * s.atoms + atom);
}

}  // namespace

TEST_CASE("kernel_dueling: advantages average to nothing over the actions, for every atom") {
  ON_EVERY_DEVICE(device);
  Random random(60);
  for (const Shape& s : shapes) {
    CAPTURE(s.rows, s.actions, s.atoms);
    std::vector<float> raw = random.floats(s.raw(), -3.0f, 3.0f);
    const Streams out = forward(device, raw, s);
    Largest largest;
    for (int r = 0; r < s.rows; ++r)
      for (int z = 0; z < s.atoms; ++z) {
        double mean = 0.0;
        for (int a = 0; a < s.actions; ++a) mean += out.logits[logit(s, r, a, z)];
        largest.note(std::fabs(mean / s.actions - raw[static_cast<std::size_t>(r * s.width + z)]));
      }
    REQUIRE(largest.value() < 1e-5);
  }
}

TEST_CASE("kernel_dueling: differences between actions are those of their advantages") {
  ON_EVERY_DEVICE(device);
  Random random(61);
  for (const Shape& s : shapes) {
    const std::vector<float> raw = random.floats(s.raw(), -3.0f, 3.0f);
    const Streams out = forward(device, raw, s);
    Largest largest;
    for (int r = 0; r < s.rows; ++r)
      for (int a = 1; a < s.actions; ++a)
        for (int z = 0; z < s.atoms; ++z) {
          const double logits = out.logits[logit(s, r, a, z)] - out.logits[logit(s, r, 0, z)];
          largest.note(std::fabs(logits - (raw[advantage(s, r, a, z)] - raw[advantage(s, r, 0, z)])));
        }
    REQUIRE(largest.value() < 1e-5);
  }
}

TEST_CASE("kernel_dueling: a constant on one atom's advantage over all actions changes nothing") {
  ON_EVERY_DEVICE(device);
  Random random(62);
  const Shape s = {37, 5, 51, 320};
  std::vector<float> raw = random.floats(s.raw(), -3.0f, 3.0f);
  const Streams before = forward(device, raw, s);
  for (int r = 0; r < s.rows; ++r)
    for (int a = 0; a < s.actions; ++a) raw[advantage(s, r, a, r % s.atoms)] += 7.0f;
  const Streams after = forward(device, raw, s);
  REQUIRE(largest_difference(after.logits, before.logits) < 1e-5);
  REQUIRE(largest_difference(after.q, before.q) < 1e-4);
  // The same on one action over all atoms is no constant: it must change the logits.
  for (int z = 0; z < s.atoms; ++z) raw[advantage(s, 0, 0, z)] += 7.0f;
  REQUIRE(largest_difference(forward(device, raw, s).logits, after.logits) > 1.0);
}

TEST_CASE("kernel_dueling: Q lies within the support, whatever the logits") {
  ON_EVERY_DEVICE(device);
  Random random(63);
  for (const Shape& s : shapes)
    for (const float size : {1.0f, 100.0f, 1e4f, 1e30f}) {
      CAPTURE(s.rows, s.actions, s.atoms, size);
      const Streams out = forward(device, random.floats(s.raw(), -size, size), s);
      REQUIRE(all_finite(out.q));
      REQUIRE(*std::min_element(out.q.begin(), out.q.end()) >= v_min - 1e-4f);
      REQUIRE(*std::max_element(out.q.begin(), out.q.end()) <= v_max + 1e-4f);
    }
}

TEST_CASE("kernel_dueling: Q is the mean of the distribution") {
  ON_EVERY_DEVICE(device);
  const Shape s = {1, 3, 21, 84};  // one unit of value an atom
  std::vector<float> raw(s.raw(), 0.0f);
  for (const float q : forward(device, raw, s).q) REQUIRE(std::fabs(q) < 1e-5f);  // even: the middle
  raw[4] = 200.0f;                                                                // all on atom 4
  for (const float q : forward(device, raw, s).q) REQUIRE(std::fabs(q - -6.0f) < 1e-4f);
  raw[17] = 200.0f;  // shared by atoms 4 and 17
  for (const float q : forward(device, raw, s).q) REQUIRE(std::fabs(q - 0.5f * (-6.0f + 7.0f)) < 1e-4f);
  raw[advantage(s, 0, 1, 17)] = 30.0f;  // action 1 prefers atom 17, the others then shun it
  const std::vector<float> q = forward(device, raw, s).q;
  REQUIRE(std::fabs(q[1] - 7.0f) < 1e-3f);
  REQUIRE(std::fabs(q[0] - -6.0f) < 1e-3f);
  REQUIRE(std::fabs(q[2] - -6.0f) < 1e-3f);
}

TEST_CASE("kernel_dueling: padding is never read and its gradient is zero") {
  ON_EVERY_DEVICE(device);
  Random random(64);
  for (const Shape& s : shapes) {
    std::vector<float> raw = random.floats(s.raw(), -3.0f, 3.0f);
    const Streams before = forward(device, raw, s);
    const int used = (s.actions + 1) * s.atoms;
    for (int r = 0; r < s.rows; ++r)
      for (int i = used; i < s.width; ++i) raw[static_cast<std::size_t>(r * s.width + i)] = NAN;
    const Streams after = forward(device, raw, s);
    REQUIRE(same_bits(after.logits, before.logits));
    REQUIRE(same_bits(after.q, before.q));
    const std::vector<float> d_raw = backward(device, random.floats(s.logits(), -1.0f, 1.0f), s);
    int stray = 0;
    for (int r = 0; r < s.rows; ++r)
      for (int i = used; i < s.width; ++i) stray += !(d_raw[static_cast<std::size_t>(r * s.width + i)] == 0.0f);
    REQUIRE(stray == 0);
  }
}

TEST_CASE("kernel_dueling: the gradient is the slope of the logits") {
  ON_EVERY_DEVICE(device);
  Random random(65);
  const Shape one = {1, 5, 7, 44};
  const std::vector<float> raw = random.floats(one.raw(), -2.0f, 2.0f);
  const std::vector<float> d_logits = random.floats(one.logits(), -1.0f, 1.0f);
  require_gradient(raw, backward(device, d_logits, one), [&](const std::vector<std::vector<float>>& inputs) {
    Shape many = one;
    many.rows = static_cast<int>(inputs.size());
    std::vector<float> rows;
    for (const auto& input : inputs) rows.insert(rows.end(), input.begin(), input.end());
    const std::vector<float> logits = forward(device, rows, many).logits;
    std::vector<double> losses;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto first = logits.begin() + static_cast<std::ptrdiff_t>(i * one.logits());
      losses.push_back(dot(d_logits, {first, first + static_cast<std::ptrdiff_t>(one.logits())}));
    }
    return losses;
  });
}

TEST_CASE("kernel_dueling: over any shape the gradient is the adjoint of the forward pass") {
  ON_EVERY_DEVICE(device);
  Random random(66);
  for (const Shape& s : shapes) {
    const std::vector<float> along = random.floats(s.raw(), -1.0f, 1.0f),
                             slope = random.floats(s.logits(), -1.0f, 1.0f);
    const double outside = dot(slope, forward(device, along, s).logits);
    const double inside = dot(backward(device, slope, s), along);
    CAPTURE(s.rows, s.actions, s.atoms);
    REQUIRE(std::fabs(outside - inside) < 1e-4 * std::sqrt(dot(slope, slope)));
  }
}
