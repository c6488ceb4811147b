#include "core/device/arena.h"

#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {
constexpr std::size_t mib = 1u << 20;
}

TEST_CASE("arena: buffers are distinct, aligned, zeroed and inside the total") {
  ON_EVERY_DEVICE(device);
  Arena arena(device);
  DeviceSpan<float> a, c;
  DeviceSpan<std::uint8_t> b;
  DeviceSpan<double> none;
  arena.plan("a", 1001, a);
  arena.plan("b", 7, b);
  arena.plan("none", 0, none);
  arena.plan("c", 64, c);
  REQUIRE(arena.bytes() == 4096 + 256 + 256);
  arena.commit();
  REQUIRE(a.size == 1001);
  REQUIRE(b.size == 7);
  REQUIRE(none.size == 0);
  REQUIRE(c.size == 64);
  const auto at = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
  for (const std::uintptr_t p : {at(a.data), at(b.data), at(c.data)}) REQUIRE(p % 256 == 0);
  REQUIRE(at(b.data) >= at(a.data) + a.bytes());
  REQUIRE(at(c.data) >= at(b.data) + b.bytes());
  REQUIRE(at(c.data) + c.bytes() <= at(a.data) + arena.bytes());
  REQUIRE(device.download(a) == std::vector<float>(1001, 0.0f));
  REQUIRE(device.download(b) == std::vector<std::uint8_t>(7, 0));
  REQUIRE(device.download(c) == std::vector<float>(64, 0.0f));
}

TEST_CASE("arena: entries name the committed memory") {
  ON_EVERY_DEVICE(device);
  Arena arena(device);
  DeviceSpan<std::int32_t> first, second;
  arena.plan("first", 3, first);
  arena.plan("second", 5, second);
  arena.commit();
  device.upload(second, std::vector<std::int32_t>{1, 2, 3, 4, 5});
  REQUIRE(arena.entries().size() == 2);
  REQUIRE(arena.entries()[1].name == "second");
  const std::vector<std::byte> bytes = device.download(arena.memory(arena.entries()[1]));
  REQUIRE(bytes.size() == 20);
  REQUIRE(bytes[16] == std::byte{5});
}

TEST_CASE("arena: the budget says what is needed and what is free") {
  ON_EVERY_DEVICE(device);
  Arena arena(device);
  DeviceSpan<std::uint8_t> buffer;
  arena.plan("buffer", 3 * mib + mib / 2, buffer);
  REQUIRE(arena.budget().starts_with("needs 3.5 MiB; "));
  REQUIRE(arena.budget().ends_with(" free"));
  REQUIRE(arena.budget(2 * mib) == "needs 3.5 MiB; 2.0 MiB free under device.memory_limit");
  DeviceSpan<std::uint8_t> huge;
  arena.plan("huge", std::size_t{2048} * mib, huge);
  REQUIRE(arena.budget().starts_with("needs 2.00 GiB; "));
}

TEST_CASE("arena: what does not fit is refused with sizes, before anything is allocated") {
  ON_EVERY_DEVICE(device);
  Arena arena(device);
  DeviceSpan<std::uint8_t> small, replay, table;
  arena.plan("small", 100, small);
  arena.plan("replay", 3 * mib, replay);
  arena.plan("table", 1 * mib, table);
  const std::string message = device_error([&] { arena.commit(2 * mib); });
  CAPTURE(message);
  REQUIRE(message.find("needs 4.0 MiB; 2.0 MiB free") != std::string::npos);
  REQUIRE(message.find("replay 3.0 MiB, table 1.0 MiB") != std::string::npos);
  REQUIRE(message.find("batch_size") != std::string::npos);
  REQUIRE(replay.data == nullptr);
  arena.commit(5 * mib);
  REQUIRE(replay.data != nullptr);
}

TEST_CASE("arena: a plan beyond the device's memory is refused without a limit too") {
  ON_EVERY_DEVICE(device);
  Arena arena(device);
  DeviceSpan<std::uint8_t> whole;
  arena.plan("whole", device.free_memory() * 2, whole);
  REQUIRE_THROWS_AS(arena.commit(), Error);
  REQUIRE(whole.data == nullptr);
}

TEST_CASE("arena: nothing is planned or taken after the memory was taken") {
  ON_EVERY_DEVICE(device);
  Arena arena(device);
  DeviceSpan<float> early, late;
  arena.plan("early", 10, early);
  arena.commit();
  REQUIRE(device_error([&] { arena.plan("late", 10, late); }).find("'late'") != std::string::npos);
  REQUIRE_THROWS_AS(arena.commit(), Error);
}
