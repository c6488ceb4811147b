// Slots read and written by kernels, the fills, and the whole live path in one kernel against its kernels one by one.
#include <thread>

#include "core/alpha/served_weights.h"
#include "tests/cuda/live_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::MappedPinnedFillSlot;
using alpha::MappedPinnedSlot;
using alpha::MappedPinnedSnapshotSlot;

namespace {

constexpr float tau_min = 0.01f;
constexpr std::size_t last_word = sizeof(Mbp10RawInput) / 4 - 1;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

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

/// Memory of one live path, run as one kernel or kernel by kernel.
struct Path {
  Device& device;
  int hidden;
  MappedPinnedSnapshotSlot snapshot;
  MappedPinnedSlot<Prediction> prediction;
  MappedBuffer<std::uint64_t> asked;
  MappedBuffer<std::uint32_t> left;
  TestBuffer<float> input, recurrent, projector, heads;
  TestBuffer<ServedWeights> served;
  TestBuffer<Mbp10RawInput> before, now;
  TestBuffer<float> features, seconds, drive, state, next, projection, logits;
  TestBuffer<std::uint32_t> live;

  Path(Device& on, int width, unsigned salt)
      : device(on),
        hidden(width),
        snapshot(on),
        prediction(on),
        asked(on, asked_words),
        left(on, 1),
        input(on, weights(salt, 41 * width)),
        recurrent(on, weights(salt + 1, (width + 1) * width)),
        projector(on, weights(salt + 2, (width + 1) * 8)),
        heads(on, weights(salt + 3, 45)),
        served(on, std::vector{alpha::served_weights(input.download(), recurrent.download(), projector.download(),
                                                     heads.download())}),
        before(on, std::vector<Mbp10RawInput>(1)),
        now(on, std::vector<Mbp10RawInput>(1)),
        features(on, std::vector<float>(40, 0.0f)),
        seconds(on, 1),
        drive(on, size(width)),
        state(on, std::vector<float>(size(width), 0.0f)),
        next(on, size(width)),
        projection(on, 8),
        logits(on, 5),
        live(on, std::vector<std::uint32_t>(4, 0u)) {}
  static std::vector<float> weights(unsigned salt, int count) { return Random(salt).floats(size(count), -0.4f, 0.4f); }

  void one_by_one() {
    launch_guarded(device, take_snapshot_kernel, snapshot.device_ptr(), before, now, seconds, state, live, hidden);
    launch_guarded(device, snap_feature_assemble_kernel, before, now, features, 1, live_tick);
    launch_guarded(device, dense_forward_kernel, features, input, drive, 1, hidden, 40, 0);
    launch_guarded(device, cfc_step_kernel, drive, seconds, recurrent, state, next, 1, hidden, tau_min);
    launch_guarded(device, multi_horizon_heads_kernel, next, projector, heads, projection, logits, 1, hidden);
    launch_guarded(device, publish_prediction_kernel, logits, projection, next, live, state, prediction.device_ptr(),
                   hidden);
  }
  void serve(int snapshots, std::int64_t idle_ns) {
    left.host()[0] = 0;
    launch_guarded(device, serve_snapshots_kernel, snapshot.device_ptr(), served, asked.device(), now, features, state,
                   live, prediction.device_ptr(), left.device(), hidden, tau_min, live_tick, snapshots, idle_ns);
    REQUIRE(left.host()[0] == 1);
  }
  Prediction answer() {
    Prediction now_there{};
    REQUIRE(prediction.peek(now_there));
    return now_there;
  }
};

constexpr std::int64_t idle_ns = 50'000'000;

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

TEST_CASE("kernel_live: fills add up to a position, its average price and what was realised") {
  ON_EVERY_DEVICE(device);
  MappedPinnedFillSlot slot(device);
  REQUIRE(slot.device_ptr().data != nullptr);
  TestBuffer<LivePosition> position(device, std::vector<LivePosition>(1));
  std::int64_t ts = 100;
  const auto fill = [&](int contracts, double price, int held, double average, double realised) {
    const Fill sent{++ts, static_cast<std::int64_t>(price * 1e9), contracts, held};
    slot.write(sent);
    Fill back{};
    REQUIRE(slot.peek(back));
    REQUIRE(same_value(back, sent));
    for (int twice = 0; twice < 2; ++twice) {  // the second time there is nothing new
      launch_guarded(device, take_fill_kernel, slot.device_ptr(), position);
      const LivePosition now = position.at(0);
      REQUIRE(now.contracts == held);
      REQUIRE(now.average_price == Approx(average));
      REQUIRE(now.realised == Approx(realised));
      REQUIRE(now.ts == ts);
      REQUIRE(now.sequence == slot.sequence_now());
    }
  };
  fill(2, 100.0, 2, 100.0, 0.0);
  fill(1, 103.0, 3, 101.0, 0.0);
  fill(-2, 105.0, 1, 101.0, 8.0);
  fill(-3, 99.0, -2, 99.0, 6.0);   // turned round
  fill(-2, 97.0, -4, 98.0, 6.0);   // added to a short
  fill(4, 96.5, 0, 0.0, 12.0);     // flat
  fill(-1, -2.5, -1, -2.5, 12.0);  // prices may be negative
  fill(1, -3.0, 0, 0.0, 12.5);
  REQUIRE(position.at(0).missed == 0);
  fill(1, 50.0, 1, 50.0, 12.5);
  slot.write({++ts, 55'000'000'000, 1, 2});  // never taken
  fill(1, 60.0, 3, 60.0, 12.5);
  REQUIRE(position.at(0).missed == 1);
  REQUIRE(position.at(0).torn == 0);
}

TEST_CASE("kernel_live: a fill half written changes nothing") {
  ON_EVERY_DEVICE(device);
  const Fill fill{5, 100'000'000'000, 1, 1};
  TestBuffer<LivePosition> position(device, std::vector<LivePosition>(1));
  const TestBuffer<MappedSlot<Fill>> torn(device, std::vector{slot_with(fill, 2u, 5, 1u)});
  launch_guarded(device, take_fill_kernel, torn, position);
  const LivePosition now = position.at(0);
  REQUIRE((now.contracts == 0 && now.ts == 0 && now.average_price == 0.0 && now.sequence == 0));
  REQUIRE(now.torn == 1000);
}

TEST_CASE("kernel_live: one kernel that serves gives the bits of the kernels one by one") {
  ON_EVERY_DEVICE(device);
  Random random(453);
  for (const int hidden : {1, 24, 100, 128}) {
    Path one(device, hidden, 460), all(device, hidden, 460);
    for (int i = 0; i < 8; ++i) {
      Mbp10RawInput book = random_book(random);
      book.first = i == 0 || i == 5;
      one.snapshot.write(book);
      one.one_by_one();
      all.snapshot.write(book);
      all.serve(1, idle_ns);
      CAPTURE(hidden, i);
      REQUIRE(same_bits(one.features.download(), all.features.download()));
      REQUIRE(same_bits(one.state.download(), all.state.download()));
      REQUIRE(same_value(one.answer(), all.answer()));
      REQUIRE(all.answer().snapshot == static_cast<std::uint32_t>(i + 1));
      REQUIRE(same_value(one.now.at(0), all.now.at(0)));
    }
    REQUIRE(one.live.download() == std::vector<std::uint32_t>{8, 0, 0, 8});
    REQUIRE(all.live.download() == one.live.download());
  }
}

TEST_CASE("kernel_live: a kernel that serves leaves when asked, and after its time without a snapshot") {
  ON_EVERY_DEVICE(device);
  Random random(454);
  Path path(device, 24, 470);
  const std::vector<float> state = random.floats(24, -1.0f, 1.0f);
  path.state.upload(state);
  path.serve(1000, idle_ns);  // nothing is there, and nothing comes
  REQUIRE(path.state.download() == state);
  REQUIRE(path.live.download() == std::vector<std::uint32_t>{0, 0, 0, 0});
  path.snapshot.write(random_book(random));
  path.serve(1000, idle_ns);  // one, then nothing
  REQUIRE(path.live.download() == std::vector<std::uint32_t>{1, 0, 0, 1});
  const auto after = path.state.download();
  REQUIRE(after != state);
  path.asked.host()[0] = 1;  // asked
  constexpr std::int64_t for_ever = std::int64_t{1} << 62;
  path.serve(1000, for_ever);
  REQUIRE(path.state.download() == after);
  path.snapshot.write(random_book(random));
  path.serve(1000, for_ever);  // asked, with one there: that one is left for the next time
  REQUIRE(path.live.download() == std::vector<std::uint32_t>{1, 0, 0, 1});
  path.asked.host()[0] = 0;
  path.serve(1000, idle_ns);
  REQUIRE(path.live.download() == std::vector<std::uint32_t>{2, 0, 0, 2});
  REQUIRE(path.answer().snapshot == 2);
}
