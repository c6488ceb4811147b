#pragma once
#include <memory>

#include "core/alpha/mapped_slot.h"
#include "core/device/arena.h"

namespace foxhunt::alpha {

/// The position that a live trader's fills add up to, kept on the device where kernels can read it.
class FillBook {
 public:
  explicit FillBook(Device& device) : device_(device) {}
  FillBook(const FillBook&) = delete;
  FillBook& operator=(const FillBook&) = delete;

  void plan(Arena& arena) { arena.plan("live.position", 1, position_); }
  /// After Arena::commit.
  void initialise() { slot_ = std::make_unique<MappedPinnedFillSlot>(device_); }

  MappedPinnedFillSlot& slot() { return *slot_; }
  /// Queues the taking of what the slot holds, if that is new. Once for every fill, or some are missed.
  void take();
  DeviceSpan<const LivePosition> position() const { return position_; }  ///< [1]

 private:
  Device& device_;
  DeviceSpan<LivePosition> position_;
  std::unique_ptr<MappedPinnedFillSlot> slot_;
};

}  // namespace foxhunt::alpha
