#pragma once
#include <type_traits>

#include "core/device/device.h"

namespace foxhunt {

/// Pinned host memory that the device reaches under its own address: the only way between host and device.
template <class T>
class MappedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  MappedBuffer(Device& device, std::size_t count)
      : device_(&device), host_(static_cast<T*>(device.allocate_mapped(count * sizeof(T), &address_))), count_(count) {}
  MappedBuffer(const MappedBuffer&) = delete;
  MappedBuffer& operator=(const MappedBuffer&) = delete;
  ~MappedBuffer() { device_->release_mapped(host_); }

  std::span<T> host() { return {host_, count_}; }
  std::span<const T> host() const { return {host_, count_}; }
  DeviceSpan<T> device() { return {static_cast<T*>(address_), count_}; }

 private:
  Device* device_;
  void* address_ = nullptr;
  T* host_;
  std::size_t count_;
};

}  // namespace foxhunt
