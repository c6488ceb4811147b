// The whole live path in one kernel against its kernels one by one, and how it waits and leaves.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <tuple>

#include "core/alpha/served_weights.h"
#include "tests/cuda/live_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::MappedPinnedSlot;
using alpha::MappedPinnedSnapshotSlot;

namespace {

constexpr float tau_min = 0.01f;
constexpr std::int64_t idle_ns = 50'000'000;

constexpr std::size_t last_word = sizeof(Mbp10RawInput) / 4 - 1;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

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
  void serve(int snapshots, std::int64_t idle) {
    serve(snapshots, idle, snapshot.device_ptr(), state, prediction.device_ptr());
  }
  template <class Slot, class Answers>
  void serve(int snapshots, std::int64_t idle, const Slot& slot, const TestBuffer<float>& kept, const Answers& to) {
    left.host()[0] = 0;
    launch_guarded(device, serve_snapshots_kernel, slot, served, asked.device(), now, features, kept, live, to,
                   left.device(), hidden, tau_min, live_tick, snapshots, idle);
    REQUIRE(left.host()[0] == 1);
  }
  Prediction answer() {
    Prediction now_there{};
    REQUIRE(prediction.peek(now_there));
    return now_there;
  }
};

}  // namespace

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

TEST_CASE("kernel_live: a kernel that serves waits as long as it may, and without a snapshot leaves all as it was") {
  ON_EVERY_DEVICE(device);
  Random random(457);
  Path path(device, 24, 480);
  const std::vector<float> features = random.floats(40, -1.0f, 1.0f), state = random.floats(24, -1.0f, 1.0f);
  const Mbp10RawInput now = random_book(random);
  path.features.upload(features);
  path.state.upload(state);
  path.now.set(0, now);
  const auto begin = std::chrono::steady_clock::now();
  path.serve(1000, idle_ns);
  const auto waited = std::chrono::steady_clock::now() - begin;
  REQUIRE(waited > std::chrono::nanoseconds(idle_ns) * 9 / 10);  // two clocks
  REQUIRE(same_bits(path.features.download(), features));
  REQUIRE(same_bits(path.state.download(), state));
  REQUIRE(same_value(path.now.at(0), now));
}

TEST_CASE("kernel_live: a kernel that serves takes the last of several snapshots and counts the others") {
  ON_EVERY_DEVICE(device);
  Random random(458);
  Path one(device, 24, 490), all(device, 24, 490);
  for (const int written : {3, 1, 2}) {
    for (int i = 0; i < written; ++i) {
      const Mbp10RawInput book = random_book(random);
      one.snapshot.write(book);
      all.snapshot.write(book);
    }
    one.one_by_one();
    all.serve(1, idle_ns);
    CAPTURE(written);
    REQUIRE(same_bits(one.features.download(), all.features.download()));
    REQUIRE(same_bits(one.state.download(), all.state.download()));
    REQUIRE(same_value(one.answer(), all.answer()));
  }
  REQUIRE(all.answer().snapshot == 6);
  REQUIRE(all.live.download() == std::vector<std::uint32_t>{6, 0, 3, 3});
}

TEST_CASE("kernel_live: a kernel that serves does not answer to a snapshot half written") {
  ON_EVERY_DEVICE(device);
  Random random(459);
  const Mbp10RawInput book = random_book(random), kept = random_book(random);
  for (const auto& [sequence, word, odd] : {std::tuple{1u, last_word, 0u}, std::tuple{3u, std::size_t{40}, 4u}}) {
    Path path(device, 8, 500);
    path.now.set(0, kept);
    const TestBuffer<MappedSlot<Mbp10RawInput>> slot(device, std::vector{slot_with(book, sequence, word, odd)});
    path.serve(1, 1, slot, path.state, path.prediction.device_ptr());
    const std::vector<std::uint32_t> live = path.live.download();
    CAPTURE(sequence, word, odd, live[1]);
    REQUIRE((live[0] == 0 && live[2] == 0 && live[3] == 0));
    REQUIRE((live[1] > 0 && live[1] < 0x80000000u));
    REQUIRE(path.prediction.sequence_now() == 0);
    REQUIRE(path.state.download() == std::vector<float>(8, 0.0f));
    REQUIRE(same_value(path.now.at(0), kept));
  }
}

TEST_CASE("kernel_live: a kernel that serves reads and writes no more than the state's width and its answer") {
  ON_EVERY_DEVICE(device);
  Random random(460);
  Path path(device, 24, 510), beside(device, 24, 510);
  const Mbp10RawInput book = random_book(random);
  const std::vector<float> kept = random.floats(24, -1.0f, 1.0f);
  std::vector<float> wider = kept;
  wider.resize(128, NAN);
  beside.state.upload(kept);
  const TestBuffer<float> state(device, wider);
  TestBuffer<MappedSlot<Prediction>> answers(device, 1);
  path.serve(1, idle_ns, TestBuffer(device, std::vector{whole_slot(book, 1)}), state, answers);
  beside.snapshot.write(book);
  beside.serve(1, idle_ns);
  std::vector<float> after = beside.state.download();
  REQUIRE(all_finite(after));
  after.resize(128, NAN);
  REQUIRE(same_bits(state.download(), after));
  Prediction answer;
  std::array<std::uint32_t, sizeof answer / 4> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(answers.at(0).tagged[i]);
  std::memcpy(&answer, words.data(), sizeof answer);
  REQUIRE(same_value(answer, beside.answer()));
}

TEST_CASE("kernel_live: a kernel that serves waits for snapshot after snapshot, and answers as many as it was told") {
  ON_EVERY_DEVICE(device);
  Random random(461);
  constexpr std::size_t told = 4;
  Path one(device, 24, 520), all(device, 24, 520);
  std::vector<Mbp10RawInput> books;
  for (std::size_t i = 0; i <= told; ++i) books.push_back(random_book(random));
  std::vector<Prediction> answers(told);
  const auto patience = std::chrono::seconds(10);
  std::thread writer([&] {
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the kernel waits
    for (std::size_t i = 0; i < told; ++i) {
      all.snapshot.write(books[i]);
      while (!(all.prediction.peek(answers[i]) && answers[i].snapshot == i + 1) &&
             std::chrono::steady_clock::now() - begin < patience)
        std::this_thread::yield();
    }
    all.snapshot.write(books[told]);  // one too many
  });
  all.serve(told, 5'000'000'000);
  writer.join();
  for (std::size_t i = 0; i < told; ++i) {
    one.snapshot.write(books[i]);
    one.one_by_one();
    CAPTURE(i);
    answers[i].torn = 0;  // whether it met the writer is chance
    REQUIRE(same_value(one.answer(), answers[i]));
  }
  const std::vector<std::uint32_t> live = all.live.download();
  REQUIRE((live[0] == told && live[2] == 0 && live[3] == told));
  REQUIRE(same_bits(one.features.download(), all.features.download()));
  REQUIRE(same_bits(one.state.download(), all.state.download()));
  REQUIRE(same_value(all.now.at(0), books[told - 1]));
}

TEST_CASE("kernel_live: a kernel that serves leaves when it is asked while it waits") {
  ON_EVERY_DEVICE(device);
  Path path(device, 8, 530);
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic_ref<std::uint64_t>(path.asked.host()[0]).store(1, std::memory_order_release);
  });
  const auto begin = std::chrono::steady_clock::now();
  path.serve(1, 5'000'000'000);
  const auto waited = std::chrono::steady_clock::now() - begin;
  host.join();
  REQUIRE(waited < std::chrono::seconds(4));
  REQUIRE(path.live.download() == std::vector<std::uint32_t>{0, 0, 0, 0});
}
