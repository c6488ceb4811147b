#pragma once
#include <cstddef>
#include <type_traits>

#include "core/error.h"

namespace foxhunt {

/// `size` elements of device memory. A view: it owns nothing, and the host may dereference `data` on the host target
/// alone. DeviceSpan<T> converts to DeviceSpan<const T>.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::size_t size = 0;

  DeviceSpan() = default;
  DeviceSpan(T* d, std::size_t n) : data(d), size(n) {}
  template <class U>
  requires(std::is_same_v<const U, T> && !std::is_const_v<U>) DeviceSpan(DeviceSpan<U> other)
      : data(other.data), size(other.size) {}

  std::size_t bytes() const { return size * sizeof(T); }
  DeviceSpan part(std::size_t first, std::size_t count) const {
    if (first > size || count > size - first) throw Error(ExitCode::device, "device span: part outside its whole");
    return {data + first, count};
  }
};

}  // namespace foxhunt
