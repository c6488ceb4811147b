// What executions make of a position: average price, what was realised, and what was never seen.
#include "tests/cuda/live_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using alpha::MappedPinnedFillSlot;

namespace {

/// A position that executions in a slot change.
struct Trader {
  Device& device;
  MappedPinnedFillSlot slot;
  TestBuffer<LivePosition> position;
  std::int64_t ts = 100;

  explicit Trader(Device& on) : device(on), slot(on), position(on, std::vector<LivePosition>(1)) {}

  void send(int contracts, double price, int held) {
    const Fill sent{++ts, static_cast<std::int64_t>(price * 1e9), contracts, held};
    slot.write(sent);
    Fill back{};
    REQUIRE(slot.peek(back));
    REQUIRE(same_value(back, sent));
  }
  LivePosition take() {
    launch_guarded(device, take_fill_kernel, slot.device_ptr(), position);
    return position.at(0);
  }
  void fill(int contracts, double price, int held, double average, double realised) {
    send(contracts, price, held);
    for (int twice = 0; twice < 2; ++twice) {  // the second time there is nothing new
      const LivePosition now = take();
      CAPTURE(contracts, price, held);
      REQUIRE(now.contracts == held);
      REQUIRE(now.average_price == Approx(average));
      REQUIRE(now.realised == Approx(realised));
      REQUIRE(now.ts == ts);
      REQUIRE(now.sequence == slot.sequence_now());
    }
  }
};

}  // namespace

TEST_CASE("kernel_live: fills add up to a position, its average price and what was realised") {
  ON_EVERY_DEVICE(device);
  Trader trader(device);
  REQUIRE(trader.slot.device_ptr().data != nullptr);
  trader.fill(2, 100.0, 2, 100.0, 0.0);
  trader.fill(1, 103.0, 3, 101.0, 0.0);
  trader.fill(-2, 105.0, 1, 101.0, 8.0);
  trader.fill(-3, 99.0, -2, 99.0, 6.0);   // turned round
  trader.fill(-2, 97.0, -4, 98.0, 6.0);   // added to a short
  trader.fill(4, 96.5, 0, 0.0, 12.0);     // flat
  trader.fill(-1, -2.5, -1, -2.5, 12.0);  // prices may be negative
  trader.fill(1, -3.0, 0, 0.0, 12.5);
  REQUIRE(trader.position.at(0).missed == 0);
  trader.fill(1, 50.0, 1, 50.0, 12.5);
  trader.send(1, 55.0, 2);  // never taken
  trader.fill(1, 60.0, 3, 60.0, 12.5);
  REQUIRE(trader.position.at(0).missed == 1);
  REQUIRE(trader.position.at(0).torn == 0);
}

TEST_CASE("kernel_live: a position that turns round by one contract realises only what was held") {
  ON_EVERY_DEVICE(device);
  Trader trader(device);
  trader.fill(-2, 100.0, -2, 100.0, 0.0);
  trader.fill(3, 90.0, 1, 90.0, 20.0);    // two closed at ten points of gain, one bought
  trader.fill(-2, 95.0, -1, 95.0, 25.0);  // one closed at five, one sold
  trader.fill(1, 94.0, 0, 0.0, 26.0);
  trader.fill(1, 80.0, 1, 80.0, 26.0);
  trader.fill(-1, 84.0, 0, 0.0, 30.0);
}

TEST_CASE("kernel_live: the fills that were never seen add up") {
  ON_EVERY_DEVICE(device);
  Trader trader(device);
  trader.send(1, 50.0, 1);
  trader.send(1, 50.0, 2);
  trader.fill(1, 60.0, 3, 60.0, 0.0);
  REQUIRE(trader.position.at(0).missed == 2);
  trader.fill(-1, 61.0, 2, 60.0, 1.0);
  REQUIRE(trader.position.at(0).missed == 2);
  trader.send(1, 50.0, 3);
  trader.fill(1, 40.0, 4, 40.0, 1.0);
  REQUIRE(trader.position.at(0).missed == 3);
}

TEST_CASE("kernel_live: a fill half written changes nothing") {
  ON_EVERY_DEVICE(device);
  const Fill fill{5, 100'000'000'000, 1, 1};
  LivePosition held{};
  held.torn = 7, held.contracts = 3, held.average_price = 5.0;
  for (const auto& [word, sequence] :
       {std::pair(std::size_t{5}, 1u), std::pair(std::size_t{2}, 1u), std::pair(std::size_t{5}, 3u)}) {
    TestBuffer<LivePosition> position(device, std::vector{held});
    const TestBuffer<MappedSlot<Fill>> torn(device, std::vector{slot_with(fill, 2u, word, sequence)});
    launch_guarded(device, take_fill_kernel, torn, position);
    LivePosition now = position.at(0);
    CAPTURE(word, sequence);
    REQUIRE(now.torn == 1007);
    now.torn = held.torn;
    REQUIRE(same_value(now, held));
  }
}

TEST_CASE("kernel_live: a slot that nobody wrote is neither a fill nor torn") {
  ON_EVERY_DEVICE(device);
  Trader trader(device);
  REQUIRE(same_value(trader.take(), LivePosition{}));
}
