#include "core/run/trainee.h"

#include <cstring>

namespace foxhunt::run {

Health Health::of(std::span<const std::uint32_t> words) {
  Health h{};
  std::memcpy(h.isv.data(), words.data(), sizeof h.isv);
  std::memcpy(h.counters.data(), words.data() + isv_slot_count, sizeof h.counters);
  return h;
}

}  // namespace foxhunt::run
