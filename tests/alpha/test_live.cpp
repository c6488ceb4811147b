// The live path: slots, and answers that are those of training, bit for bit, in whichever form they are given.
#include "core/alpha/fill_book.h"
#include "core/alpha/resident.h"
#include "tests/cuda/live_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::LiveModel;
using alpha::MappedPinnedFillSlot;
using alpha::MappedPinnedSnapshotSlot;
using alpha::Resident;

namespace {

constexpr std::chrono::milliseconds idle{50};

/// A live model on memory of its own.
struct Live {
  Device& device;
  Arena arena;
  LiveModel model;
  std::vector<float> parameters;

  Live(Device& on, int hidden) : device(on), arena(on), model(on, {.hidden = hidden, .tau_min = 0.01f}, live_tick) {
    model.plan(arena);
    arena.commit();
    Random random(420);
    parameters = alpha::TrunkLayout(hidden).initial_parameters(4, 0.01f);
    for (float& p : parameters) p += random.uniform(-0.2f, 0.2f);
    model.initialise(parameters);
    model.capture_graph_a();
  }
  Prediction by_graph(const Mbp10RawInput& book) {
    model.snapshot().write(book);
    model.perception_forward_captured();
    return model.wait();
  }
  std::vector<float> state() {
    device.synchronize();
    return device.download(model.state());
  }
};

std::vector<Mbp10RawInput> books(Random& random, int count) {
  std::vector<Mbp10RawInput> all;
  for (int i = 0; i < count; ++i) all.push_back(random_book(random));
  all[0].first = 1;
  return all;
}

/// All that does not count reads.
bool same_answer(Prediction a, Prediction b) {
  a.torn = b.torn = 0;
  return same_value(a, b);
}

}  // namespace

TEST_CASE("alpha: a slot has an address for kernels, and gives back what was written") {
  ON_EVERY_DEVICE(device);
  Random random(421);
  MappedPinnedSnapshotSlot slot(device);
  REQUIRE(slot.device_ptr().data != nullptr);
  REQUIRE(slot.device_ptr().size == 1);
  Mbp10RawInput read = random_book(random);
  const Mbp10RawInput as_it_was = read;
  REQUIRE(!slot.peek(read));  // nothing was written
  REQUIRE(same_value(read, as_it_was));
  for (unsigned i = 0; i < 5; ++i) {
    const Mbp10RawInput book = random_book(random);
    slot.write(book);
    REQUIRE(slot.peek(read));
    REQUIRE(same_value(read, book));
    REQUIRE(slot.sequence_now() == i + 1);
  }
  MappedPinnedFillSlot fills(device);
  REQUIRE(fills.device_ptr().data != nullptr);
  const Fill fill{1, -2, 3, -4};
  fills.write(fill);
  Fill back{};
  REQUIRE(fills.peek(back));
  REQUIRE(same_value(back, fill));
}

TEST_CASE("alpha: a fill book keeps the position that its slot's fills add up to") {
  ON_EVERY_DEVICE(device);
  alpha::FillBook fills(device);
  Arena arena(device);
  fills.plan(arena);
  arena.commit();
  fills.initialise();
  fills.slot().write({1, 100'000'000'000, 2, 2});
  fills.take();
  fills.slot().write({2, 101'000'000'000, -1, 1});
  device.synchronize();
  fills.take();
  const LivePosition position = device.download(fills.position())[0];
  REQUIRE(position.contracts == 1);
  REQUIRE(position.sequence == 2);
}

TEST_CASE("alpha: Graph A, launch by launch, and training give the same bits, step by step") {
  ON_EVERY_DEVICE(device);
  Random random(423);
  for (const int hidden : {24, 128}) {
    constexpr int steps = 20;
    Live plain(device, hidden), captured(device, hidden);
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
    for (const Mbp10RawInput& book : books(random, steps)) {
      plain.model.snapshot().write(book);
      plain.model.perceive();
      const Prediction answer = plain.model.wait();
      REQUIRE(same_value(answer, captured.by_graph(book)));
      answers.push_back(answer);
      const auto features = device.download(plain.model.features()), state = plain.state();
      REQUIRE(same_bits(captured.state(), state));
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
    REQUIRE(same_bits(std::vector<float>(trained.begin() + hidden, trained.end()), states));
    for (std::size_t s = 0; s < steps; ++s) {
      for (std::size_t k = 0; k < 8; ++k) REQUIRE(answers[s].projection[k] == projection[(s + 1) * 8 + k]);
      for (const float p : answers[s].probability) REQUIRE((p > 0.0f && p < 1.0f));
    }
    REQUIRE(answers.back().snapshot == steps);
    REQUIRE(answers.back().torn + answers.back().missed == 0);
  }
}

TEST_CASE("alpha: the first snapshot of a session forgets the one before it") {
  ON_EVERY_DEVICE(device);
  Random random(424);
  Live fresh(device, 16), used(device, 16);
  for (int i = 0; i < 5; ++i) used.by_graph(random_book(random));
  Mbp10RawInput first = random_book(random);
  first.first = 1;
  for (Live* live : {&fresh, &used}) {
    live->model.snapshot().write(first);
    live->model.perceive();
    live->model.wait();
  }
  REQUIRE(same_bits(used.state(), fresh.state()));
}

TEST_CASE("alpha: a resident model gives the answers of Graph A, and hands its state over when it leaves") {
  ON_EVERY_DEVICE(device);
  Random random(425);
  Live graph(device, 128), stays(device, 128);
  const auto all = books(random, 40);
  std::vector<Prediction> expected;
  for (const Mbp10RawInput& book : all) expected.push_back(graph.by_graph(book));
  {
    Resident resident(stays.model, std::chrono::seconds(1));
    for (std::size_t i = 0; i < 30; ++i) REQUIRE(same_answer(resident.answer(all[i]), expected[i]));
    resident.leave();
    REQUIRE(!resident.serving());
    resident.leave();  // it may be asked again
  }
  for (std::size_t i = 30; i < 35; ++i) REQUIRE(same_answer(stays.by_graph(all[i]), expected[i]));
  Resident again(stays.model, std::chrono::seconds(1));
  for (std::size_t i = 35; i < 40; ++i) REQUIRE(same_answer(again.answer(all[i]), expected[i]));
  again.leave();
  REQUIRE(same_bits(stays.state(), graph.state()));
}

TEST_CASE("alpha: a resident model leaves by itself when the host stops writing, and comes back where it was") {
  ON_EVERY_DEVICE(device);
  Random random(426);
  Live graph(device, 24), stays(device, 24);
  const auto all = books(random, 6);
  std::vector<Prediction> expected;
  for (const Mbp10RawInput& book : all) expected.push_back(graph.by_graph(book));
  Resident resident(stays.model, idle);
  for (std::size_t i = 0; i < 6; ++i) {
    REQUIRE(same_answer(resident.answer(all[i]), expected[i]));
    if (i % 2 == 1)
      while (resident.serving()) std::this_thread::yield();
  }
}

TEST_CASE("alpha: a resident model that is hammered answers snapshots whole, and counts those that it missed") {
  ON_EVERY_DEVICE(device);
  Live live(device, 24);
  Resident resident(live.model, std::chrono::seconds(1));
  constexpr std::uint32_t written = 3000;
  std::thread writer([&] {
    Random random(427);
    for (std::uint32_t n = 0; n < written; ++n) {
      live.model.snapshot().write(random_book(random));
      if (n % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  std::uint32_t last = 0;
  int wrong = 0;
  while (last < written) {
    Prediction answer{};
    if (live.model.prediction().peek(answer)) {
      wrong += answer.snapshot < last;
      for (const float p : answer.probability) wrong += !(p > 0.0f && p < 1.0f);
      for (const float p : answer.projection) wrong += !(p >= -1.0f && p <= 1.0f);
      last = answer.snapshot;
    }
    if (!resident.serving()) break;
  }
  writer.join();
  const Prediction final_answer = live.model.wait();
  REQUIRE(wrong == 0);
  REQUIRE(final_answer.snapshot == written);
  REQUIRE(live.model.prediction().sequence_now() + final_answer.missed == written);
}

TEST_CASE("alpha: a resident model leaves when asked while snapshots go on coming") {
  ON_EVERY_DEVICE(device);
  Random random(428);
  Live live(device, 24);
  const auto all = books(random, 16);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::size_t n = 0; !stop.load(); ++n) live.model.snapshot().write(all[n % all.size()]);
  });
  Resident resident(live.model, std::chrono::hours(1));
  while (live.model.prediction().sequence_now() == 0) std::this_thread::yield();
  resident.leave();
  REQUIRE(!resident.serving());
  stop = true;
  writer.join();
}

TEST_CASE("alpha: a snapshot that nothing answers is an error, not a wait without end") {
  ON_EVERY_DEVICE(device);
  Live live(device, 8);
  live.model.snapshot().write(Mbp10RawInput{});
  const std::string error = device_error([&] { live.model.wait(); });
  REQUIRE(error.find("no answer to snapshot 1 after 1 s") != std::string::npos);
}
