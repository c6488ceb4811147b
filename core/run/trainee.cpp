#include "core/run/trainee.h"

#include <algorithm>
#include <cstring>

namespace foxhunt::run {

Health Health::of(std::span<const std::uint32_t> words) {
  Health h{};
  std::memcpy(h.isv.data(), words.data(), sizeof h.isv);
  std::memcpy(h.counters.data(), words.data() + isv_slot_count, sizeof h.counters);
  return h;
}

void show_health(Device& device, DeviceSpan<const float> isv, DeviceSpan<const std::uint32_t> counters,
                 std::span<std::uint32_t> words) {
  const std::vector<float> bus = device.download(isv);
  const std::vector<std::uint32_t> counted = device.download(counters);
  std::memcpy(words.data(), bus.data(), isv_slot_count * sizeof(float));
  std::copy(counted.begin(), counted.end(), words.begin() + isv_slot_count);
}

std::uint64_t fingerprint(std::span<const float> parameters) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::byte b : std::as_bytes(parameters)) hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211ULL;
  return hash;
}

}  // namespace foxhunt::run
