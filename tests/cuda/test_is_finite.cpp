// What every guard asks.
#include <bit>
#include <cstdint>

#include "cuda/device.cuh"
#include "tests/catch.h"

TEST_CASE("guards: no NaN is finite, whatever bits it carries") {
  const auto of_bits = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  for (const std::uint32_t sign : {0u, 1u << 31}) {
    for (std::uint32_t bit = 0; bit < 23; ++bit)
      REQUIRE_FALSE(foxhunt::cuda::is_finite(of_bits(sign | 0x7f800000u | 1u << bit)));
    REQUIRE_FALSE(foxhunt::cuda::is_finite(of_bits(sign | 0x7f800000u)));
    for (const std::uint32_t finite : {0u, 1u, 0x7f7fffffu, 0x3f800000u})
      REQUIRE(foxhunt::cuda::is_finite(of_bits(sign | finite)));
  }
}
