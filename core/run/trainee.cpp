#include "core/run/trainee.h"

#include <cstring>

namespace foxhunt::run {

Health Health::of(std::span<const std::uint32_t> words) {
  Health h{};
  std::memcpy(h.isv.data(), words.data(), sizeof h.isv);
  std::memcpy(h.counters.data(), words.data() + isv_slot_count, sizeof h.counters);
  return h;
}

std::uint64_t fingerprint(std::span<const float> parameters) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::byte b : std::as_bytes(parameters)) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211ULL;
  return hash;
}

}  // namespace foxhunt::run
