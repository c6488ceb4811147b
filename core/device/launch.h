#pragma once
#include <tuple>

#include "core/device/device.h"
#include "core/kernels.h"

namespace foxhunt {
namespace detail {

/// The value a kernel parameter of type P receives from argument `a`: a span's pointer, or a scalar without narrowing.
template <class P, class A>
P pass(const A& a) {
  if constexpr (std::is_pointer_v<P>) {
    const DeviceSpan<std::remove_pointer_t<P>> span = a;
    return span.data;
  } else {
    return P{a};
  }
}

template <class P, class A>
LaunchArgument describe(const A& a) {
  LaunchArgument view;
  if constexpr (std::is_pointer_v<P>) {
    using T = std::remove_pointer_t<P>;
    const DeviceSpan<T> span = a;
    view.data = span.data;
    view.size = span.size;
    view.bytes = span.bytes();
    view.is_span = true;
    view.written = !std::is_const_v<T>;
    view.is_float = std::is_same_v<std::remove_const_t<T>, float>;
  } else if constexpr (std::is_integral_v<P>) {
    view.is_integer = true;
    view.integer = static_cast<std::int64_t>(a);
  }
  return view;
}

/// Checks sizes and overlap, and chooses the grid. Throws Error(device) naming kernel and arguments.
Launch check_launch(const Device& device, const KernelInfo& kernel, std::vector<LaunchArgument> arguments);

}  // namespace detail

/// The one way to launch a kernel: launch(device, dqn_scale_f32_kernel, y, alpha, n), spans for pointers. Refuses a
/// span that the kernel writes if it overlaps any other span of the launch, and a span smaller than the catalogue
/// states, before anything runs.
template <class... P, class... A>
void launch(Device& device, void (*kernel)(P...), const A&... arguments) {
  static_assert(sizeof...(P) == sizeof...(A), "launch: as many arguments as the kernel has parameters");
  const KernelInfo& info = kernel_info(reinterpret_cast<const void*>(kernel));
  Launch checked = detail::check_launch(device, info, {detail::describe<P>(arguments)...});
  auto values = std::make_shared<std::tuple<P...>>(detail::pass<P>(arguments)...);
  std::apply([&](auto&... v) { checked.values = {static_cast<void*>(&v)...}; }, *values);
  checked.host_call = [kernel, values] { std::apply(kernel, *values); };
  checked.storage = values;
  device.submit(std::move(checked));
}

}  // namespace foxhunt
