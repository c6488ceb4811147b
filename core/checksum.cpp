#include "core/checksum.h"

#include <array>
#include <bit>
#include <cstring>

namespace foxhunt {
namespace {

static_assert(std::endian::native == std::endian::little);

// The primes of the specification.
constexpr std::uint64_t kP1 = 0x9E3779B185EBCA87, kP2 = 0xC2B2AE3D27D4EB4F, kP3 = 0x165667B19E3779F9,
                        kP4 = 0x85EBCA77C2B2AE63, kP5 = 0x27D4EB2F165667C5;

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * kP2, 31) * kP1; }

std::uint64_t merge(std::uint64_t sum, std::uint64_t lane) { return (sum ^ round(0, lane)) * kP1 + kP4; }

/// What a byte adds to the remainder, the polynomial 0x1EDC6F41 reflected.
constexpr std::array<std::uint32_t, 256> kCastagnoli = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (sum & 1 ? 0x82F63B78u : 0u);
    table[byte] = sum;
  }
  return table;
}();

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t sum = seed + kP5;
  if (left >= 32) {
    std::uint64_t lanes[4] = {seed + kP1 + kP2, seed + kP2, seed, seed - kP1};
    for (; left >= 32; left -= 32)
      for (std::uint64_t& lane : lanes) lane = round(lane, read<std::uint64_t>(at)), at += 8;
    sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) sum = merge(sum, lane);
  }
  sum += bytes.size();
  for (; left >= 8; left -= 8, at += 8) sum = std::rotl(sum ^ round(0, read<std::uint64_t>(at)), 27) * kP1 + kP4;
  if (left >= 4) sum = std::rotl(sum ^ read<std::uint32_t>(at) * kP1, 23) * kP2 + kP3, left -= 4, at += 4;
  for (; left > 0; --left, ++at) sum = std::rotl(sum ^ std::to_integer<std::uint64_t>(*at) * kP5, 11) * kP1;
  sum = (sum ^ (sum >> 33)) * kP2;
  sum = (sum ^ (sum >> 29)) * kP3;
  return sum ^ (sum >> 32);
}

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
  std::uint32_t sum = ~0u;
  for (const std::byte byte : bytes)
    sum = (sum >> 8) ^ kCastagnoli[(sum ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return ~sum;
}

}  // namespace foxhunt
