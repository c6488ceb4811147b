#pragma once
#include <atomic>
#include <bit>
#include <cstring>

#include "core/device/mapped_buffer.h"
#include "core/kernels.h"

namespace foxhunt::alpha {

/// A value in pinned memory that host and device share while both work: one side writes, the other reads, and a read
/// that met a writer is noticed (a sequence lock). One writer at a time.
template <class T>
class MappedPinnedSlot {
 public:
  explicit MappedPinnedSlot(Device& device) : buffer_(device, 1) {}

  /// From the host: readers see the old value or the new one, whole.
  void write(const T& value) {
    Words words;
    std::memcpy(words.data(), &value, sizeof value);
    const std::uint32_t before = sequence().load(std::memory_order_relaxed);
    sequence().store(before + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) word(i).store(words[i], std::memory_order_release);
    sequence().store(before + 2, std::memory_order_release);
  }

  /// What the slot holds; false when a writer is at it.
  bool peek(T& value) {
    const std::uint32_t before = sequence().load(std::memory_order_acquire);
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = word(i).load(std::memory_order_acquire);
    const std::uint32_t after = sequence().load(std::memory_order_acquire);
    if (before != after || before % 2 != 0) return false;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    return true;
  }

  /// Two more for every value written; odd while one is.
  std::uint32_t sequence_now() { return sequence().load(std::memory_order_acquire); }
  /// For kernels; not null.
  DeviceSpan<MappedSlot<T>> device_ptr() { return buffer_.device(); }

 private:
  using Words = std::array<std::uint32_t, sizeof(T) / sizeof(std::uint32_t)>;
  MappedSlot<T>& slot() { return buffer_.host()[0]; }
  std::atomic_ref<std::uint32_t> sequence() { return std::atomic_ref<std::uint32_t>(slot().sequence); }
  std::atomic_ref<std::uint32_t> word(std::size_t i) {
    return std::atomic_ref<std::uint32_t>(reinterpret_cast<std::uint32_t*>(&slot().payload)[i]);
  }

  MappedBuffer<MappedSlot<T>> buffer_;
};

using MappedPinnedSnapshotSlot = MappedPinnedSlot<Mbp10RawInput>;

}  // namespace foxhunt::alpha
