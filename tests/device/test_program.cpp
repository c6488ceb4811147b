#include "core/device/isv_bus.h"
#include "core/device/mapped_buffer.h"
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Every device present, replaying graphs and launch by launch.
const std::vector<OpenDevice>& devices_and_modes() {
  static const std::vector<OpenDevice> all = [] {
    std::vector<OpenDevice> opened;
    for (const std::string& name : present_devices())
      for (const bool graphs : {true, false})
        opened.push_back({name + (graphs ? " with graphs" : " without graphs"), open_device(name, {2, graphs})});
    return opened;
  }();
  return all;
}

#define ON_EVERY_DEVICE_AND_MODE(variable)                                \
  const OpenDevice on_device = GENERATE(from_range(devices_and_modes())); \
  INFO("on " << on_device.name);                                          \
  Device& variable = *on_device.device

struct Doubling {
  explicit Doubling(Device& d) : device(d), y(d, std::vector<float>{1.0f, 3.0f}), factor(d, std::vector<float>{2.0f}) {}
  void enqueue() { launch(device, dqn_scale_f32_kernel, y, factor, 2); }
  std::vector<float> value() const { return y.download(); }

  Device& device;
  TestBuffer<float> y;
  TestBuffer<float> factor;
};

}  // namespace

TEST_CASE("program: recording does not execute") {
  ON_EVERY_DEVICE_AND_MODE(device);
  Doubling work(device);
  work.enqueue();  // warm up
  const auto program = device.record([&] { work.enqueue(); });
  device.synchronize();
  REQUIRE(work.value() == std::vector<float>{2.0f, 6.0f});
  REQUIRE(program->launches().size() == 1);
}

TEST_CASE("program: an upload or download cannot be recorded, and the refusal leaves the device usable") {
  ON_EVERY_DEVICE_AND_MODE(device);
  Doubling work(device);
  REQUIRE_THROWS_AS(device.record([&] { work.value(); }), Error);
  work.enqueue();
  REQUIRE(work.value() == std::vector<float>{2.0f, 6.0f});
}

TEST_CASE("program: run(k) executes k times") {
  ON_EVERY_DEVICE_AND_MODE(device);
  Doubling work(device);
  const auto program = device.record([&] { work.enqueue(); });
  program->run(0);
  REQUIRE(work.value() == std::vector<float>{1.0f, 3.0f});
  program->run();
  REQUIRE(work.value() == std::vector<float>{2.0f, 6.0f});
  program->run(5);
  REQUIRE(work.value() == std::vector<float>{64.0f, 192.0f});
}

TEST_CASE("program: launches, copies and zeroing replay in order") {
  ON_EVERY_DEVICE_AND_MODE(device);
  Doubling work(device);
  TestBuffer<float> copy(device, std::vector<float>{0.0f, 0.0f}), sum(device, std::vector<float>{0.0f, 0.0f});
  const TestBuffer<float> one(device, std::vector<float>{1.0f});
  const auto program = device.record([&] {
    device.copy<float>(copy.span(), work.y.span());
    work.enqueue();
    launch(device, dqn_saxpy_f32_kernel, sum, copy, one, 2);
    device.zero(copy.span());
  });
  program->run(3);
  REQUIRE(work.value() == std::vector<float>{8.0f, 24.0f});
  REQUIRE(sum.download() == std::vector<float>{1.0f + 2.0f + 4.0f, 3.0f + 6.0f + 12.0f});
  REQUIRE(copy.download() == std::vector<float>{0.0f, 0.0f});
  const auto& launches = program->launches();
  REQUIRE(launches.size() == 4);
  REQUIRE(launches[1].kernel->name == "dqn_scale_f32_kernel");
  REQUIRE(launches[2].kernel->name == "dqn_saxpy_f32_kernel");
  REQUIRE(launches[2].arguments[0].written);
  REQUIRE(launches[2].arguments[0].data == sum.span().data);
  REQUIRE(!launches[2].arguments[1].written);
}

TEST_CASE("program: a schedule is read afresh on every replay") {
  ON_EVERY_DEVICE_AND_MODE(device);
  TestBuffer<float> memory(device, std::vector<float>(isv_slot_count, 1.0f));
  IsvBus bus(device, memory.span());
  TestBuffer<float> y(device, std::vector<float>{1.0f});
  const auto program = device.record([&] { launch(device, dqn_scale_f32_kernel, y, bus.slot(isv_beta), 1); });
  float expected = 1.0f;
  for (const float value : {2.0f, 0.5f, -3.0f, 7.0f}) {
    bus.write_slot(isv_beta, value);
    program->run();
    expected *= value;
    REQUIRE(y.download()[0] == expected);
  }
}

TEST_CASE("program: a replay gives the bits of the launches themselves") {
  ON_EVERY_DEVICE_AND_MODE(device);
  Random random(30);
  const int m = 70, n = 33, k = 129;
  const TestBuffer<float> x(device, random.floats(m * k, -1.0f, 1.0f)),
      w(device, random.floats((k + 1) * n, -1.0f, 1.0f));
  TestBuffer<float> direct(device, m * n), replayed(device, m * n);
  launch_guarded(device, dense_forward_kernel, x, w, direct, m, n, k, 1);
  const auto program = device.record([&] { launch(device, dense_forward_kernel, x, w, replayed, m, n, k, 1); });
  program->run(2);
  REQUIRE(same_bits(direct.download(), replayed.download()));
  REQUIRE(replayed.unwritten() == 0);
}

TEST_CASE("program: an exception in the body is passed on and leaves the device usable") {
  ON_EVERY_DEVICE_AND_MODE(device);
  Doubling work(device);
  REQUIRE_THROWS_AS(device.record([&] {
    work.enqueue();
    throw std::runtime_error("stop");
  }),
                    std::runtime_error);
  REQUIRE_THROWS_AS(device.record([&] { launch(device, dqn_saxpy_f32_kernel, work.y, work.y, work.factor, 2); }),
                    Error);
  REQUIRE_THROWS_AS(device.record([&] { device.record([&] { work.enqueue(); }); }), Error);
  REQUIRE(work.value() == std::vector<float>{1.0f, 3.0f});
  work.enqueue();
  const auto program = device.record([&] { work.enqueue(); });
  program->run();
  REQUIRE(work.value() == std::vector<float>{4.0f, 12.0f});
}

TEST_CASE("program: an empty one runs") {
  ON_EVERY_DEVICE_AND_MODE(device);
  const auto program = device.record([] {});
  program->run(3);
  device.synchronize();
  REQUIRE(program->launches().empty());
}

TEST_CASE("program: a fence waits for what was queued before it") {
  ON_EVERY_DEVICE_AND_MODE(device);
  MappedBuffer<float> seen(device, 1);
  Doubling work(device);
  const auto program = device.record([&] { work.enqueue(); });
  program->run(10);
  device.copy<float>(seen.device(), work.y.span().part(0, 1));
  device.fence()->wait();
  REQUIRE(seen.host()[0] == 1024.0f);
}

TEST_CASE("program: the host gives the same bits with any number of threads") {
  Random random(31);
  const int m = 200, n = 130, k = 65;
  const std::vector<float> x = random.floats(m * k, -1.0f, 1.0f), w = random.floats((k + 1) * n, -1.0f, 1.0f);
  std::vector<std::vector<float>> results;
  for (const int threads : {1, 2, 5}) {
    const auto device = open_device("host", {threads, true});
    const TestBuffer<float> xs(*device, x), ws(*device, w);
    TestBuffer<float> y(*device, m * n);
    launch_guarded(*device, dense_forward_kernel, xs, ws, y, m, n, k, 1);
    results.push_back(y.download());
  }
  REQUIRE(same_bits(results[0], results[1]));
  REQUIRE(same_bits(results[0], results[2]));
}
