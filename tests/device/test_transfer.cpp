// Everything that moves data: uploads and downloads through staging, device copies, mapped memory, the bus.
#include "core/device/isv_bus.h"
#include "core/device/mapped_buffer.h"
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

TEST_CASE("upload: what goes up comes down, around the size of the staging buffer") {
  ON_EVERY_DEVICE(device);
  constexpr std::size_t staging = 8u << 20;
  Random random(20);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, staging - 1, staging, staging + 1,
                                  2 * staging, 2 * staging + 12345}) {
    std::vector<std::uint8_t> sent(bytes);
    std::uint32_t state = static_cast<std::uint32_t>(random.integer(1, 1 << 30));
    for (std::uint8_t& v : sent) v = static_cast<std::uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
    TestBuffer<std::uint8_t> buffer(device, bytes);
    buffer.upload(sent);
    CAPTURE(bytes);
    REQUIRE(buffer.guards_intact());
    REQUIRE(same_bits(buffer.download(), sent));
  }
}

TEST_CASE("upload: a length that differs is refused") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> buffer(device, std::vector<float>{1.0f, 2.0f});
  REQUIRE_THROWS_AS(device.upload(buffer.span(), std::vector<float>{1.0f}), Error);
  REQUIRE_THROWS_AS(device.upload(buffer.span(), std::vector<float>{1.0f, 2.0f, 3.0f}), Error);
  REQUIRE_THROWS_AS(buffer.span().part(1, 2), Error);
  REQUIRE_THROWS_AS(buffer.span().part(3, 0), Error);
  REQUIRE(buffer.span().part(2, 0).size == 0);
  REQUIRE(buffer.download() == std::vector<float>{1.0f, 2.0f});
}

TEST_CASE("upload: device copies and zeroing touch their spans alone") {
  ON_EVERY_DEVICE(device);
  const TestBuffer<float> from(device, std::vector<float>{1.0f, 2.0f, 3.0f});
  TestBuffer<float> to(device, std::vector<float>{9.0f, 9.0f, 9.0f, 9.0f, 9.0f});
  device.copy<float>(to.span().part(1, 3), from.span());
  REQUIRE(to.download() == std::vector<float>{9.0f, 1.0f, 2.0f, 3.0f, 9.0f});
  device.zero(to.span().part(2, 2));
  REQUIRE(to.download() == std::vector<float>{9.0f, 1.0f, 0.0f, 0.0f, 9.0f});
  REQUIRE_THROWS_AS(device.copy<float>(to.span(), from.span()), Error);
}

TEST_CASE("mapped_buffer: host and kernels see the same memory") {
  ON_EVERY_DEVICE(device);
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{70001}}) {
    MappedBuffer<float> buffer(device, count);
    REQUIRE(buffer.host().size() == count);
    for (const float v : buffer.host()) REQUIRE(v == 0.0f);
    for (std::size_t i = 0; i < count; ++i) buffer.host()[i] = static_cast<float>(i);
    const TestBuffer<float> two(device, std::vector<float>{2.0f});
    launch(device, dqn_scale_f32_kernel, buffer.device(), two, static_cast<int>(count));
    device.synchronize();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) wrong += buffer.host()[i] != 2.0f * static_cast<float>(i);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("mapped_buffer: stages copies both ways") {
  ON_EVERY_DEVICE(device);
  MappedBuffer<std::int32_t> staging(device, 3);
  TestBuffer<std::int32_t> buffer(device, 3);
  std::copy_n(std::vector<std::int32_t>{7, -8, 9}.begin(), 3, staging.host().begin());
  device.copy<std::int32_t>(buffer.span(), staging.device());
  REQUIRE(buffer.download() == std::vector<std::int32_t>{7, -8, 9});
  buffer.upload({1, 2, 3});
  device.copy<std::int32_t>(staging.device(), buffer.span());
  device.synchronize();
  REQUIRE(std::vector<std::int32_t>(staging.host().begin(), staging.host().end()) ==
          std::vector<std::int32_t>{1, 2, 3});
}

TEST_CASE("isv_bus: write_slot sets its slot and no other") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> memory(device, std::vector<float>(isv_slot_count, -1.0f));
  IsvBus bus(device, memory.span());
  std::vector<float> expected(isv_slot_count, -1.0f);
  for (int slot = 0; slot < isv_slot_count; ++slot) {
    expected[slot] = 0.5f + static_cast<float>(slot);
    bus.write_slot(static_cast<IsvSlot>(slot), expected[slot]);
    const auto now = bus.snapshot();
    REQUIRE(std::vector<float>(now.begin(), now.end()) == expected);
  }
  REQUIRE(memory.guards_intact());
}

TEST_CASE("isv_bus: a slot is a kernel argument") {
  ON_EVERY_DEVICE(device);
  TestBuffer<float> memory(device, std::vector<float>(isv_slot_count, 0.0f));
  IsvBus bus(device, memory.span());
  bus.write_slot(isv_c51_weight, 0.25f);
  TestBuffer<float> y(device, std::vector<float>{8.0f});
  launch(device, dqn_scale_f32_kernel, y, bus.slot(isv_c51_weight), 1);
  REQUIRE(y.download()[0] == 2.0f);
}

TEST_CASE("isv_bus: slots have their names") {
  REQUIRE(IsvBus::name(isv_step) == "step");
  REQUIRE(IsvBus::name(isv_learning_rate) == "learning_rate");
  REQUIRE(IsvBus::name(isv_nonfinite_count) == "nonfinite_count");
}
