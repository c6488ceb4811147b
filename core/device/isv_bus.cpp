#include "core/device/isv_bus.h"

#include <algorithm>

namespace foxhunt {

std::array<float, isv_slot_count> IsvBus::snapshot() {
  const std::vector<float> values = device_.download(slots_);
  std::array<float, isv_slot_count> result{};
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

void IsvBus::write_slot(IsvSlot index, float value) { device_.upload(slots_.part(index, 1), std::span(&value, 1)); }

std::string_view IsvBus::name(IsvSlot index) {
  static constexpr std::string_view names[] = {
#define X(slot) #slot,
      FOXHUNT_ISV_SLOTS(X)
#undef X
  };
  return names[index];
}

}  // namespace foxhunt
