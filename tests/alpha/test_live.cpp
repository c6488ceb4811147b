// The live path: slots that are written while they are read, and answers that are those of training, bit for bit.
#include "core/alpha/live.h"

#include <thread>

#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::LiveModel;
using alpha::MappedPinnedSlot;
using alpha::MappedPinnedSnapshotSlot;

namespace {

constexpr std::int64_t tick = 250'000'000;

Mbp10RawInput random_book(Random& random) {
  Mbp10RawInput book{};
  std::int64_t bid = 5000'000'000'000 + random.integer(-3, 3) * tick, ask = bid + random.integer(1, 3) * tick;
  const auto amount = [&] { return static_cast<std::uint32_t>(random.integer(1, 90)); };
  for (Mbp10Level& level : book.level) {
    level = {bid, ask, amount(), amount(), amount(), amount()};
    bid -= tick, ask += tick;
  }
  book.trade_price = bid, book.buy_volume = amount(), book.sell_volume = amount();
  book.seconds = random.uniform(0.0f, 1.0f);
  return book;
}

/// A snapshot of which every word says `n`.
Mbp10RawInput uniform_book(std::uint32_t n) {
  std::array<std::uint32_t, sizeof(Mbp10RawInput) / 4> words;
  words.fill(n);
  return std::bit_cast<Mbp10RawInput>(words);
}

/// A live model on memory of its own.
struct Live {
  Device& device;
  Arena arena;
  LiveModel model;
  std::vector<float> parameters;

  Live(Device& on, int hidden) : device(on), arena(on), model(on, {.hidden = hidden, .tau_min = 0.01f}, tick) {
    model.plan(arena);
    arena.commit();
    Random random(420);
    parameters = alpha::TrunkLayout(hidden).initial_parameters(4, 0.01f);
    for (float& p : parameters) p += random.uniform(-0.2f, 0.2f);
    model.initialise(parameters);
  }
};

bool same_bits(const Prediction& a, const Prediction& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

TEST_CASE("alpha: a slot has an address for kernels, and gives back what was written") {
  ON_EVERY_DEVICE(device);
  Random random(421);
  MappedPinnedSnapshotSlot slot(device);
  REQUIRE(slot.device_ptr().data != nullptr);
  REQUIRE(slot.device_ptr().size == 1);
  for (int i = 0; i < 5; ++i) {
    const Mbp10RawInput book = random_book(random);
    slot.write(book);
    Mbp10RawInput read{};
    REQUIRE(slot.peek(read));
    REQUIRE(std::memcmp(&read, &book, sizeof book) == 0);
    REQUIRE(slot.sequence_now() == 2u * static_cast<unsigned>(i + 1));
  }
}

TEST_CASE("alpha: a slot that is hammered by a writer is never seen half written") {
  ON_EVERY_DEVICE(device);
  MappedPinnedSnapshotSlot slot(device);
  slot.write(uniform_book(0));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint32_t n = 1; !stop.load(); ++n) {
      slot.write(uniform_book(n));
      if (n % 16 == 0) std::this_thread::yield();
    }
  });
  TestBuffer<Mbp10RawInput> before(device, std::vector<Mbp10RawInput>(1)), now(device, std::vector<Mbp10RawInput>(1));
  TestBuffer<float> seconds(device, 1), state(device, std::vector<float>(4, 1.0f));
  TestBuffer<std::uint32_t> live(device, std::vector<std::uint32_t>(3, 0));
  int half_written = 0, seen_by_host = 0;
  std::uint32_t last = 0, changes = 0;
  for (int i = 0; i < 300; ++i) {
    launch(device, take_snapshot_kernel, slot.device_ptr(), before, now, seconds, state, live, 4);
    device.synchronize();
    const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(Mbp10RawInput) / 4>>(now.at(0));
    for (const std::uint32_t w : words) half_written += w != words[0];
    changes += words[0] != last;
    last = words[0];
    Mbp10RawInput read{};
    if (slot.peek(read)) {
      ++seen_by_host;
      const auto host = std::bit_cast<std::array<std::uint32_t, sizeof(Mbp10RawInput) / 4>>(read);
      for (const std::uint32_t w : host) half_written += w != host[0];
    }
  }
  stop = true;
  writer.join();
  REQUIRE(half_written == 0);
  REQUIRE(changes > 0);
  REQUIRE(seen_by_host > 0);
  REQUIRE(live.at(0) % 2 == 0);
}

TEST_CASE("alpha: a slot whose writer died is given up, and the state stays as it is") {
  ON_EVERY_DEVICE(device);
  MappedPinnedSlot<Mbp10RawInput> slot(device);
  MappedSlot<Mbp10RawInput> dead{};
  dead.sequence = 7;
  const TestBuffer<MappedSlot<Mbp10RawInput>> odd(device, std::vector{dead});
  Random random(422);
  const Mbp10RawInput kept = random_book(random);
  TestBuffer<Mbp10RawInput> before(device, std::vector<Mbp10RawInput>(1)), now(device, std::vector{kept});
  TestBuffer<float> seconds(device, 1), state(device, std::vector<float>(4, 0.5f));
  TestBuffer<std::uint32_t> live(device, std::vector<std::uint32_t>{4, 0, 0});
  launch_guarded(device, take_snapshot_kernel, odd, before, now, seconds, state, live, 4);
  const Mbp10RawInput after = now.at(0);
  REQUIRE(std::memcmp(&after, &kept, sizeof kept) == 0);
  REQUIRE(seconds.at(0) == 0.0f);
  REQUIRE(state.download() == std::vector<float>(4, 0.5f));
  REQUIRE(live.download() == std::vector<std::uint32_t>{4, 1000, 1});
}

TEST_CASE("alpha: Graph A, launch by launch, and training give the same bits, step by step") {
  ON_EVERY_DEVICE(device);
  Random random(423);
  for (const int hidden : {24, 128}) {
    constexpr int steps = 20;
    std::vector<Mbp10RawInput> books;
    for (int i = 0; i < steps; ++i) books.push_back(random_book(random));
    books[0].first = 1;

    Live plain(device, hidden), captured(device, hidden);
    captured.model.capture_graph_a();
    alpha::CfcTrunk trunk(device, {.hidden = hidden, .tau_min = 0.01f}, 1, steps);
    Arena arena(device);
    DeviceSpan<float> parameters;
    trunk.plan(arena);
    arena.plan("parameters", plain.parameters.size(), parameters);
    arena.commit();
    device.upload(parameters, plain.parameters);
    std::vector<float> x, seconds;
    std::vector<Prediction> answers;
    std::vector<float> states;
    for (const Mbp10RawInput& book : books) {
      plain.model.snapshot().write(book);
      captured.model.snapshot().write(book);
      plain.model.perceive();
      captured.model.perception_forward_captured();
      const Prediction answer = plain.model.wait();
      REQUIRE(same_bits(answer, captured.model.wait()));
      device.synchronize();
      answers.push_back(answer);
      const auto features = device.download(plain.model.features()), state = device.download(plain.model.state());
      REQUIRE(device.download(captured.model.state()) == state);
      x.insert(x.end(), features.begin(), features.end());
      states.insert(states.end(), state.begin(), state.end());
      seconds.push_back(book.seconds);
    }
    x.insert(x.end(), 40, 0.0f);
    seconds.push_back(0.0f);
    device.upload(trunk.x(), x);
    device.upload(trunk.seconds(), seconds);
    trunk.forward(parameters);
    const auto trained = device.download(trunk.state());
    const auto projection = device.download(trunk.projection());
    REQUIRE(std::vector<float>(trained.begin() + hidden, trained.end()) == states);
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::size_t k = 0; k < 8; ++k) REQUIRE(answers[s].projection[k] == projection[(s + 1) * 8 + k]);
      for (const float p : answers[s].probability) REQUIRE((p > 0.0f && p < 1.0f));
    }
    REQUIRE(answers.back().snapshot == 2u * steps);
    REQUIRE(answers.back().torn + answers.back().missed == 0);
  }
}

TEST_CASE("alpha: the first snapshot of a session forgets the one before it") {
  ON_EVERY_DEVICE(device);
  Random random(424);
  Live fresh(device, 16), used(device, 16);
  for (int i = 0; i < 5; ++i) {
    used.model.snapshot().write(random_book(random));
    used.model.perceive();
    used.model.wait();
  }
  Mbp10RawInput first = random_book(random);
  first.first = 1;
  for (Live* live : {&fresh, &used}) {
    live->model.snapshot().write(first);
    live->model.perceive();
    live->model.wait();
  }
  device.synchronize();
  REQUIRE(device.download(used.model.state()) == device.download(fresh.model.state()));
}
