#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// One element, odd, prime, a multiple of the block, and more than a grid covers in one pass.
const std::vector<int> lengths = {1, 255, 256, 1009, 300007};

std::vector<float> scaled(Device& device, const std::vector<float>& y, float alpha) {
  TestBuffer<float> buffer(device, y);
  const TestBuffer<float> factor(device, std::vector<float>{alpha});
  launch_guarded(device, dqn_scale_f32_kernel, buffer, factor, static_cast<int>(y.size()));
  return buffer.download();
}

std::vector<float> added(Device& device, const std::vector<float>& y, const std::vector<float>& x, float alpha) {
  TestBuffer<float> to(device, y);
  const TestBuffer<float> from(device, x), factor(device, std::vector<float>{alpha});
  launch_guarded(device, dqn_saxpy_f32_kernel, to, from, factor, static_cast<int>(y.size()));
  REQUIRE(same_bits(from.download(), x));
  return to.download();
}

}  // namespace

TEST_CASE("kernel_elementwise: scaling by one changes no bit") {
  ON_EVERY_DEVICE(device);
  Random random(1);
  for (const int n : lengths) {
    std::vector<float> y = random.floats(static_cast<std::size_t>(n), -1e3f, 1e3f);
    y[0] = -0.0f;
    y.back() = n > 1 ? 1e-42f : y[0];  // a denormal
    REQUIRE(same_bits(scaled(device, y, 1.0f), y));
  }
}

TEST_CASE("kernel_elementwise: scaling by zero gives zero from anything") {
  ON_EVERY_DEVICE(device);
  Random random(2);
  for (const int n : lengths) {
    std::vector<float> y = random.floats(static_cast<std::size_t>(n), -1.0f, 1.0f);
    const float wild[] = {1e38f, -1e38f, INFINITY, -INFINITY, NAN};
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = i % 3 ? y[i] : wild[i / 3 % 5];
    REQUIRE(largest_difference(scaled(device, y, 0.0f), std::vector<float>(y.size(), 0.0f)) == 0.0);
  }
}

TEST_CASE("kernel_elementwise: scaling twice is scaling by the product") {
  ON_EVERY_DEVICE(device);
  Random random(3);
  for (const int n : lengths) {
    const std::vector<float> y = random.floats(static_cast<std::size_t>(n), -2.0f, 2.0f);
    const std::vector<float> twice = scaled(device, scaled(device, y, 0.7f), -3.0f);
    REQUIRE(largest_difference(twice, scaled(device, y, 0.7f * -3.0f)) < 2e-6);
    REQUIRE(largest_difference(twice, y) > 0.0);
  }
}

TEST_CASE("kernel_elementwise: scaling passes a NaN on") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> y = scaled(device, {1.0f, NAN, 3.0f}, 0.5f);
  REQUIRE(y[0] == 0.5f);
  REQUIRE(std::isnan(y[1]));
  REQUIRE(y[2] == 1.5f);
}

TEST_CASE("kernel_elementwise: adding nothing of x leaves y") {
  ON_EVERY_DEVICE(device);
  Random random(4);
  for (const int n : lengths) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> y = random.floats(count, 0.5f, 2.0f), x = random.floats(count, -1e30f, 1e30f);
    REQUIRE(same_bits(added(device, y, x, 0.0f), y));
  }
}

TEST_CASE("kernel_elementwise: saxpy is linear in x and in alpha") {
  ON_EVERY_DEVICE(device);
  Random random(5);
  for (const int n : lengths) {
    const auto count = static_cast<std::size_t>(n);
    const std::vector<float> y = random.whole(count, -50, 50), x = random.whole(count, -50, 50),
                             z = random.whole(count, -50, 50);
    // Whole numbers: both orders are exact.
    std::vector<float> both(count);
    for (std::size_t i = 0; i < count; ++i) both[i] = x[i] + z[i];
    REQUIRE(same_bits(added(device, added(device, y, x, 3.0f), z, 3.0f), added(device, y, both, 3.0f)));
    REQUIRE(same_bits(added(device, added(device, y, x, 2.0f), x, -7.0f), added(device, y, x, -5.0f)));
    REQUIRE(same_bits(added(device, added(device, y, x, 4.0f), x, -4.0f), y));
    const std::vector<float> ones = added(device, std::vector<float>(count, 0.0f), x, 1.0f);
    REQUIRE(largest_difference(ones, x) == 0.0);
  }
}

TEST_CASE("kernel_elementwise: no elements, nothing touched") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> y(device, std::vector<float>{1.0f, 2.0f});
  const TestBuffer<float> x(device, std::vector<float>{5.0f, 5.0f}), alpha(device, std::vector<float>{3.0f});
  launch_guarded(device, dqn_scale_f32_kernel, y, alpha, 0);
  launch_guarded(device, dqn_saxpy_f32_kernel, y, x, alpha, 0);
  REQUIRE(y.download() == std::vector<float>{1.0f, 2.0f});
}

TEST_CASE("kernel_elementwise: blocks share the elements between them") {
  ON_EVERY_DEVICE(device);
  const int n = 8200;  // a block of the host target takes 8,192
  TestBuffer<float> y(device, std::vector<float>(8200, 1.0f));
  const TestBuffer<float> two(device, std::vector<float>{2.0f});
  launch_guarded(device, dqn_scale_f32_kernel, y, two, n);
  REQUIRE(y.download() == std::vector<float>(8200, 2.0f));
}
