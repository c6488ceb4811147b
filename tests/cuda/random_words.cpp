#include "tests/cuda/random_words.h"

#include "cuda/random.cuh"

namespace foxhunt::test {
namespace {

cuda::Random4 generator(const RandomWords& words) {
  return {{words.word[0], words.word[1], words.word[2], words.word[3]}};
}

}  // namespace

float RandomWords::uniform(std::size_t i) const { return generator(*this).uniform(static_cast<int>(i)); }
int RandomWords::below(std::size_t i, int n) const { return generator(*this).below(static_cast<int>(i), n); }

RandomWords random_words(std::uint64_t seed, int step, int index, Purpose purpose) {
  const auto words = cuda::philox(seed, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(index),
                                  static_cast<cuda::RandomStream>(purpose));
  return {{words.v[0], words.v[1], words.v[2], words.v[3]}};
}

}  // namespace foxhunt::test
