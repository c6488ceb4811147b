#pragma once
// The generator of every random choice, for tests that launch kernels: such a file cannot include cuda/ itself, whose
// kernels have clones for several processors there.
#include <array>
#include <cstdint>

namespace foxhunt::test {

enum class Purpose : std::uint32_t { reset = 1, exploration = 2, sampling = 3 };

struct RandomWords {
  std::array<std::uint32_t, 4> word;
  float uniform(std::size_t i) const;
  int below(std::size_t i, int n) const;
};

RandomWords random_words(std::uint64_t seed, int step, int index, Purpose purpose);

}  // namespace foxhunt::test
