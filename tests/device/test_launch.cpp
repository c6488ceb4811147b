#include "core/device/launch.h"

#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

void not_in_the_catalogue(float*, int) {}

}  // namespace

TEST_CASE("launch: saxpy of a buffer onto itself is refused and nothing runs") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> before = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f};
  TestBuffer<float> y(device, before);
  const TestBuffer<float> alpha(device, std::vector<float>{2.0f});
  const DeviceSpan<float> all = y;
  const auto saxpy = [&](DeviceSpan<float> to, DeviceSpan<const float> from) {
    return device_error([&] { launch(device, dqn_saxpy_f32_kernel, to, from, alpha, static_cast<int>(to.size)); });
  };
  for (const auto& [to, from] :
       {std::pair{all, all}, std::pair{all.part(0, 5), all.part(3, 5)}, std::pair{all.part(3, 5), all.part(0, 5)},
        std::pair{all.part(0, 4), all.part(3, 4)}, std::pair{all.part(2, 2), all}}) {
    const std::string message = saxpy(to, from);
    CAPTURE(message);
    REQUIRE(message.starts_with("dqn_saxpy_f32_kernel: argument 'y'"));
    REQUIRE(message.find("'x'") != std::string::npos);
    device.synchronize();
    REQUIRE(same_bits(y.download(), before));
  }
  REQUIRE(saxpy(all.part(0, 4), all.part(4, 4)) == "");
  REQUIRE(y.download() == std::vector<float>{11.0f, 14.0f, 17.0f, 20.0f, 5.0f, 6.0f, 7.0f, 8.0f});
}

TEST_CASE("launch: a scale whose factor lies in its own buffer is refused") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> y(device, std::vector<float>{3.0f, 2.0f});
  const std::string message = device_error([&] { launch(device, dqn_scale_f32_kernel, y, y.span().part(1, 1), 2); });
  REQUIRE(message.find("'alpha'") != std::string::npos);
  REQUIRE(y.download() == std::vector<float>{3.0f, 2.0f});
}

TEST_CASE("launch: a buffer that is too small is refused and nothing runs") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> y(device, std::vector<float>{3.0f, 2.0f});
  const TestBuffer<float> alpha(device, std::vector<float>{2.0f});
  const std::string message = device_error([&] { launch(device, dqn_scale_f32_kernel, y, alpha, 3); });
  REQUIRE(message == "dqn_scale_f32_kernel: argument 'y' has 2 elements, the kernel needs 3 = n");
  REQUIRE(y.download() == std::vector<float>{3.0f, 2.0f});
}

TEST_CASE("launch: a function that the catalogue does not list is refused") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> y(device, std::vector<float>{1.0f});
  REQUIRE(device_error([&] { launch(device, not_in_the_catalogue, y, 1); }).find("core/kernels.h") !=
          std::string::npos);
}

TEST_CASE("launch: the grid depends on the work alone and is never empty") {
  ON_EVERY_DEVICE(device);
  for (const KernelInfo& kernel : kernel_catalogue()) {
    CAPTURE(kernel.name);
    REQUIRE(device.grid_for(kernel, 0) == 1);
    REQUIRE(device.grid_for(kernel, device.items_a_block(kernel)) == 1);
    REQUIRE(device.grid_for(kernel, device.items_a_block(kernel) + 1) == 2);
    REQUIRE(device.grid_for(kernel, std::int64_t{1} << 50) == device.grid_limit(kernel.threads));
  }
}
