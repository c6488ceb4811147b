// Slots read and written by kernels: snapshots in, predictions out.
#include <thread>

#include "tests/cuda/live_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::MappedPinnedSlot;
using alpha::MappedPinnedSnapshotSlot;

namespace {

constexpr std::size_t last_word = sizeof(Mbp10RawInput) / 4 - 1;

/// What take_snapshot_kernel keeps.
struct Taker {
  Device& device;
  TestBuffer<Mbp10RawInput> before, now;
  TestBuffer<float> seconds, state;
  TestBuffer<std::uint32_t> live;

  explicit Taker(Device& on, const std::vector<std::uint32_t>& counts = {0, 0, 0, 0})
      : device(on),
        before(on, std::vector<Mbp10RawInput>(1)),
        now(on, std::vector<Mbp10RawInput>(1)),
        seconds(on, 1),
        state(on, std::vector<float>(4, 0.5f)),
        live(on, counts) {}
  void take(DeviceSpan<const MappedSlot<Mbp10RawInput>> slot) {
    launch_guarded(device, take_snapshot_kernel, slot, before, now, seconds, state, live, 4);
  }
};

}  // namespace

TEST_CASE("kernel_live: a slot that is hammered by a writer is never seen half written") {
  ON_EVERY_DEVICE(device);
  MappedPinnedSnapshotSlot slot(device);
  slot.write(uniform_book(1));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint32_t n = 2; !stop.load(); ++n) {
      slot.write(uniform_book(n));
      if (n % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  Taker taker(device);
  const int takes = host_block_sizes().front() > 1 ? 20 : 300;  // blocks of threads are slow on the host
  int broken = 0, seen_by_host = 0;
  std::uint32_t last = 0, changes = 0;
  for (int i = 0; i < takes; ++i) {
    launch(device, take_snapshot_kernel, slot.device_ptr(), taker.before, taker.now, taker.seconds, taker.state,
           taker.live, 4);
    const Mbp10RawInput taken = taker.now.at(0);
    broken += half_written(taken);
    changes += std::bit_cast<SnapshotWords>(taken)[0] != last;
    last = std::bit_cast<SnapshotWords>(taken)[0];
    Mbp10RawInput read{};
    if (slot.peek(read)) ++seen_by_host, broken += half_written(read);
  }
  stop = true;
  writer.join();
  REQUIRE(broken == 0);
  REQUIRE(changes > 0);
  REQUIRE(seen_by_host > 0);
  // With the writer gone, what it wrote last is what is taken, and all others were seen or counted as missed.
  launch(device, take_snapshot_kernel, slot.device_ptr(), taker.before, taker.now, taker.seconds, taker.state,
         taker.live, 4);
  REQUIRE(std::bit_cast<SnapshotWords>(taker.now.at(0))[0] == slot.sequence_now());
  REQUIRE(taker.live.at(0) == slot.sequence_now());
}

TEST_CASE("kernel_live: a slot whose writer died half way is given up, and all stays as it is") {
  ON_EVERY_DEVICE(device);
  Random random(450);
  const Mbp10RawInput kept = random_book(random), torn = random_book(random);
  for (const auto& [word, sequence] : {std::pair(last_word, 6u), std::pair(std::size_t{40}, 8u)}) {
    Taker taker(device, {5, 0, 0, 9});
    taker.now.set(0, kept);
    const TestBuffer<MappedSlot<Mbp10RawInput>> slot(device, std::vector{slot_with(torn, 7u, word, sequence)});
    taker.take(slot);
    REQUIRE(same_value(taker.now.at(0), kept));
    REQUIRE(same_value(taker.before.at(0), Mbp10RawInput{}));
    REQUIRE(taker.seconds.at(0) == 0.0f);
    REQUIRE(taker.state.download() == std::vector<float>(4, 0.5f));
    REQUIRE(taker.live.download() == std::vector<std::uint32_t>{5, 1000, 0, 9});
  }
}

TEST_CASE("kernel_live: a snapshot is taken once, the one before it kept, and those between are counted") {
  ON_EVERY_DEVICE(device);
  Random random(451);
  Mbp10RawInput first = random_book(random), second = random_book(random);
  second.first = 1;
  Taker taker(device);
  TestBuffer<MappedSlot<Mbp10RawInput>> slot(device, std::vector{whole_slot(first, 1)});
  taker.take(slot);
  REQUIRE(same_value(taker.now.at(0), first));
  REQUIRE(taker.seconds.at(0) == first.seconds);
  REQUIRE(taker.state.download() == std::vector<float>(4, 0.5f));
  taker.take(slot);
  REQUIRE(taker.seconds.at(0) == 0.0f);
  REQUIRE(same_value(taker.before.at(0), Mbp10RawInput{}));
  slot.set(0, whole_slot(second, 5));
  taker.take(slot);
  REQUIRE(same_value(taker.before.at(0), first));
  REQUIRE(same_value(taker.now.at(0), second));
  REQUIRE(taker.state.download() == std::vector<float>(4, 0.0f));
  REQUIRE(taker.live.download() == std::vector<std::uint32_t>{5, 0, 3, 0});
  slot.set(0, whole_slot(first, 7));
  taker.take(slot);
  REQUIRE(taker.live.download() == std::vector<std::uint32_t>{7, 0, 4, 0});
}

TEST_CASE("kernel_live: an answer holds the logits' probabilities, the projection and the counts") {
  ON_EVERY_DEVICE(device);
  Random random(452);
  MappedPinnedSlot<Prediction> slot(device);
  const std::vector<float> logits = random.floats(5, -3.0f, 3.0f), projection = random.floats(8, -1.0f, 1.0f),
                           next = random.floats(70, -1.0f, 1.0f);
  const TestBuffer<float> z(device, logits), p(device, projection), h(device, next);
  TestBuffer<float> state(device, 70);
  TestBuffer<std::uint32_t> live(device, std::vector<std::uint32_t>{11, 12, 13, 0});
  launch_guarded(device, publish_prediction_kernel, z, p, h, live, state, slot.device_ptr(), 70);
  Prediction answer{};
  REQUIRE(slot.peek(answer));
  for (std::size_t i = 0; i < 5; ++i)
    REQUIRE(std::fabs(answer.probability[i] - 1.0 / (1.0 + std::exp(-static_cast<double>(logits[i])))) < 1e-6);
  REQUIRE(std::vector<float>(answer.projection, answer.projection + 8) == projection);
  REQUIRE((answer.snapshot == 11 && answer.torn == 12 && answer.missed == 13));
  REQUIRE(state.download() == next);
  REQUIRE(live.download() == std::vector<std::uint32_t>{11, 12, 13, 1});
  REQUIRE(slot.sequence_now() == 1);
}

TEST_CASE("kernel_live: an answer is its slot's words and a state its width, read and written no further") {
  ON_EVERY_DEVICE(device);
  Random random(456);
  const std::vector<float> next = random.floats(71, -1.0f, 1.0f);
  const EndingBuffer<float> z(device, random.floats(5, -3.0f, 3.0f)), p(device, random.floats(8, -1.0f, 1.0f));
  const TestBuffer<float> h(device, next);  // one more than there are
  TestBuffer<float> state(device, 70);
  TestBuffer<std::uint32_t> live(device, std::vector<std::uint32_t>{1, 0, 0, 4});
  TestBuffer<MappedSlot<Prediction>> slot(device, 1);
  launch_guarded(device, publish_prediction_kernel, z, p, h, live, state, slot, 70);
  REQUIRE(state.download() == std::vector<float>(next.begin(), next.end() - 1));
  for (const std::uint64_t word : slot.at(0).tagged) REQUIRE(word >> 32 == 5);
}
