#pragma once
#include <array>
#include <string_view>

#include "core/device/device.h"
#include "core/isv_slots.h"

namespace foxhunt {

/// Host face of the device vector of named float slots (core/isv_slots.h).
class IsvBus {
 public:
  IsvBus(Device& device, DeviceSpan<float> slots) : device_(device), slots_(slots) {}

  DeviceSpan<float> span() const { return slots_; }
  /// One slot as a kernel argument, e.g. the blend weight of dqn_scale_f32_kernel.
  DeviceSpan<const float> slot(IsvSlot index) const { return DeviceSpan<const float>(slots_).part(index, 1); }
  /// All slots; waits for queued work.
  std::array<float, isv_slot_count> snapshot();
  /// Sets one slot, the others untouched; takes effect after the work already queued.
  void write_slot(IsvSlot index, float value);

  static std::string_view name(IsvSlot index);

 private:
  Device& device_;
  DeviceSpan<float> slots_;
};

}  // namespace foxhunt
