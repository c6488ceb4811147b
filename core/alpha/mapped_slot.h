#pragma once
#include <array>
#include <atomic>
#include <cstring>

#include "core/device/mapped_buffer.h"
#include "core/kernels.h"

namespace foxhunt::alpha {

/// A value in pinned memory that host and device share while both work: one side writes, the other reads, and a read
/// that met a writer is noticed (see MappedSlot). One writer at a time.
template <class T>
class MappedPinnedSlot {
 public:
  explicit MappedPinnedSlot(Device& device) : buffer_(device, 1) {}

  /// From the host: readers see the old value or the new one, whole, and with it all that this thread wrote before.
  void write(const T& value) {
    std::array<std::uint32_t, words> plain;
    std::memcpy(plain.data(), &value, sizeof value);
    std::uint32_t sequence = sequence_now() + 1;
    if (sequence == 0) sequence = 1;  // gone round: 0 says that nothing is there
    for (std::size_t i = 0; i < words; ++i)
      word(i).store(plain[i] | static_cast<std::uint64_t>(sequence) << 32, std::memory_order_release);
  }

  /// What the slot holds; false, and `value` as it was, when nothing was written yet or a writer is at it.
  bool peek(T& value) {
    std::array<std::uint32_t, words> plain;
    std::uint64_t sequence = 0;
    for (std::size_t i = 0; i < words; ++i) {
      const std::uint64_t tagged = word(i).load(std::memory_order_acquire);
      if (i == 0) sequence = tagged >> 32;
      if (sequence == 0 || tagged >> 32 != sequence) return false;
      plain[i] = static_cast<std::uint32_t>(tagged);
    }
    std::memcpy(static_cast<void*>(&value), plain.data(), sizeof value);
    return true;
  }

  /// One more for every value written; 0 before the first.
  std::uint32_t sequence_now() {
    return static_cast<std::uint32_t>(word(words - 1).load(std::memory_order_acquire) >> 32);
  }
  /// For kernels; not null.
  DeviceSpan<MappedSlot<T>> device_ptr() { return buffer_.device(); }

 private:
  static constexpr std::size_t words = sizeof(T) / sizeof(std::uint32_t);
  std::atomic_ref<std::uint64_t> word(std::size_t i) {
    return std::atomic_ref<std::uint64_t>(buffer_.host()[0].tagged[i]);
  }

  MappedBuffer<MappedSlot<T>> buffer_;
};

using MappedPinnedSnapshotSlot = MappedPinnedSlot<Mbp10RawInput>;
using MappedPinnedFillSlot = MappedPinnedSlot<Fill>;

}  // namespace foxhunt::alpha
