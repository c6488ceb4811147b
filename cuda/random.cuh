#pragma once
#include "cuda/device.cuh"

namespace foxhunt::cuda {

/// Four independent 32-bit words.
struct Random4 {
  uint32_t v[4];
  /// Uniform in [0, 1), 24 bits.
  DEVICE float uniform(int i) const { return static_cast<float>(v[i] >> 8) * (1.0f / 16777216.0f); }
  /// Uniform integer in [0, n), n > 0.
  DEVICE int below(int i, int n) const { return static_cast<int>(__umulhi(v[i], static_cast<unsigned>(n))); }
};

/// What a random value is for: part of the counter, so that two uses never share a value.
enum RandomStream : uint32_t { stream_reset = 1, stream_exploration = 2, stream_sampling = 3 };

/// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): key = seed, counter =
/// (step, index, stream). A value depends on nothing else: not on launch shape, not on what was drawn before.
DEVICE Random4 philox(uint64_t seed, uint32_t step, uint32_t index, RandomStream stream) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = step, c1 = index, c2 = stream, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const uint32_t high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const uint32_t high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ key0;
    c1 = low1;
    c2 = high0 ^ c3 ^ key1;
    c3 = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace foxhunt::cuda
