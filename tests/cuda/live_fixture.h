#pragma once
// Snapshots for the tests of the live path.
#include "core/alpha/mapped_slot.h"
#include "tests/cuda/kernel_fixture.h"

namespace foxhunt::test {

inline constexpr std::int64_t live_tick = 250'000'000;

inline Mbp10RawInput random_book(Random& random) {
  Mbp10RawInput book{};
  std::int64_t bid = 5000'000'000'000 + random.integer(-3, 3) * live_tick;
  std::int64_t ask = bid + random.integer(1, 3) * live_tick;
  const auto amount = [&] { return static_cast<std::uint32_t>(random.integer(1, 90)); };
  for (Mbp10Level& level : book.level) {
    level = {bid, ask, amount(), amount(), amount(), amount()};
    bid -= live_tick, ask += live_tick;
    if (random.integer(0, 9) == 0) level.ask = undefined_price;
    if (random.integer(0, 9) == 0) level.bid_size = 0;
  }
  book.trade_price = bid, book.buy_volume = amount(), book.sell_volume = amount();
  book.seconds = random.uniform(0.0f, 1.0f);
  return book;
}

using SnapshotWords = std::array<std::uint32_t, sizeof(Mbp10RawInput) / 4>;

/// A snapshot of which every word says `n`.
inline Mbp10RawInput uniform_book(std::uint32_t n) {
  SnapshotWords words;
  words.fill(n);
  return std::bit_cast<Mbp10RawInput>(words);
}
/// Words of it that say something else than the first.
inline int half_written(const Mbp10RawInput& book) {
  const auto words = std::bit_cast<SnapshotWords>(book);
  return static_cast<int>(
      std::count_if(words.begin(), words.end(), [&](std::uint32_t word) { return word != words[0]; }));
}

/// A slot as its writer left it: `value` under `sequence`, but for one word under another.
template <class T>
MappedSlot<T> slot_with(const T& value, std::uint32_t sequence, std::size_t odd_word, std::uint32_t odd_sequence) {
  std::array<std::uint32_t, sizeof(T) / 4> words;
  std::memcpy(words.data(), &value, sizeof value);
  MappedSlot<T> slot{};
  for (std::size_t i = 0; i < words.size(); ++i)
    slot.tagged[i] = words[i] | static_cast<std::uint64_t>(i == odd_word ? odd_sequence : sequence) << 32;
  return slot;
}
template <class T>
MappedSlot<T> whole_slot(const T& value, std::uint32_t sequence) {
  return slot_with(value, sequence, 0, sequence);
}

template <class T>
bool same_value(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace foxhunt::test
