#pragma once
#include <cstdint>
#include <random>

namespace foxhunt::market {

inline constexpr std::int64_t synth_one = 1 << 16;  ///< fixed point of everything without a unit

/// Integers only: std::normal_distribution and the maths library differ from one platform to the next.
class SynthRandom {
 public:
  explicit SynthRandom(std::uint64_t seed) : engine_(seed) {}

  /// 0 to n - 1, for n up to 2^31.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>((engine_() >> 32) * static_cast<std::uint64_t>(n) >> 32);
  }

  /// Standard normal in units of synth_one: twelve uniforms, summed (Irwin-Hall), so it never exceeds six.
  std::int64_t normal() {
    std::int64_t sum = -6 * synth_one;
    for (int draw = 0; draw < 3; ++draw) {
      const std::uint64_t bits = engine_();
      for (int part = 0; part < 4; ++part) sum += bits >> (16 * part) & 0xFFFF;
    }
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace foxhunt::market
