// The counter-based generator that every random choice of a kernel comes from.
#include "cuda/random.cuh"

#include <set>
#include <vector>

#include "tests/catch.h"

using foxhunt::cuda::philox;
using foxhunt::cuda::Random4;
using foxhunt::cuda::RandomStream;

namespace {

std::vector<std::uint32_t> words(const Random4& random) { return {random.v, random.v + 4}; }

}  // namespace

TEST_CASE("random: known answers of Philox4x32-10") {
  using Words = std::vector<std::uint32_t>;
  const auto none = static_cast<RandomStream>(0), all = static_cast<RandomStream>(0xffffffffu);
  // The first is in Random123's own list; the others come from a generator that reproduces that list, as it has none
  // with the fourth counter word at zero.
  REQUIRE(words(philox(0, 0, 0, none)) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  REQUIRE(words(philox(~0ull, ~0u, ~0u, all)) == Words{0xeec03824, 0xe4c1e0f1, 0x3d16e5ca, 0xa00e8336});
  REQUIRE(words(philox(0x299f31d0a4093822, 0x243f6a88, 0x85a308d3, static_cast<RandomStream>(0x13198a2e))) ==
          Words{0xae120e9d, 0xa08a4cab, 0xd28ec6a2, 0x42d73c1f});
}

TEST_CASE("random: every part of seed and counter matters") {
  std::set<std::vector<std::uint32_t>> seen;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32, 1ull << 63})
    for (const std::uint32_t step : {0u, 1u, 0x80000000u})
      for (const std::uint32_t index : {0u, 1u, 0x80000000u})
        for (const auto stream :
             {foxhunt::cuda::stream_reset, foxhunt::cuda::stream_exploration, foxhunt::cuda::stream_sampling})
          seen.insert(words(philox(seed, step, index, stream)));
  REQUIRE(seen.size() == 4 * 3 * 3 * 3);
}

TEST_CASE("random: uniform numbers and whole numbers stay in their ranges and fill them evenly") {
  constexpr int bins = 20, draws = 40000;
  std::vector<int> uniform(bins, 0), below(bins, 0);
  for (std::uint32_t i = 0; i < draws / 4; ++i) {
    const Random4 random = philox(7, 3, i, foxhunt::cuda::stream_reset);
    for (int word = 0; word < 4; ++word) {
      const float u = random.uniform(word);
      REQUIRE(u >= 0.0f);
      REQUIRE(u < 1.0f);
      ++uniform[static_cast<std::size_t>(u * bins)];
      ++below.at(static_cast<std::size_t>(random.below(word, bins)));
      if (random.below(word, 1) != 0) FAIL("below 1");
    }
  }
  for (const std::vector<int>& counts : {uniform, below}) {
    double chi_square = 0.0;
    for (const int count : counts) chi_square += std::pow(count - draws / bins, 2) / (draws / bins);
    CAPTURE(chi_square);
    REQUIRE(chi_square < 60.0);  // 19 degrees of freedom: exceeded with probability 4e-6
  }
}

TEST_CASE("random: the largest word stays below one and below n") {
  const Random4 largest = {{0xffffffffu, 0, 0, 0}};
  REQUIRE(largest.uniform(0) < 1.0f);
  REQUIRE(largest.uniform(0) > 0.9999999f);
  REQUIRE(largest.below(0, 5) == 4);
  REQUIRE(largest.below(1, 5) == 0);
}
