#include "core/device/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/device/expression.h"

namespace foxhunt {
namespace {

bool overlap(const LaunchArgument& a, const LaunchArgument& b) {
  const auto first_a = reinterpret_cast<std::uintptr_t>(a.data), first_b = reinterpret_cast<std::uintptr_t>(b.data);
  return a.bytes > 0 && b.bytes > 0 && first_a < first_b + b.bytes && first_b < first_a + a.bytes;
}

void check_overlap(const KernelInfo& kernel, const std::vector<LaunchArgument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_span || !arguments[i].written) continue;
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      if (i == j || !arguments[j].is_span || !overlap(arguments[i], arguments[j])) continue;
      throw Error(ExitCode::device,
                  fmt::format("{}: argument '{}', which it writes, overlaps argument '{}'; pass buffers that are "
                              "distinct, or use a kernel that takes the buffer once",
                              kernel.name, kernel.arguments[i].name, kernel.arguments[j].name));
    }
  }
}

void check_sizes(const KernelInfo& kernel, const std::vector<LaunchArgument>& arguments,
                 const IntegerArguments& given) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_span) continue;
    const auto needed = static_cast<std::size_t>(std::max<std::int64_t>(0, evaluate(kernel.arguments[i].size, given)));
    if (arguments[i].size < needed)
      throw Error(ExitCode::device,
                  fmt::format("{}: argument '{}' has {} elements, the kernel needs {} = {}", kernel.name,
                              kernel.arguments[i].name, arguments[i].size, needed, kernel.arguments[i].size));
    if (arguments[i].data == nullptr && needed > 0)
      throw Error(ExitCode::device,
                  fmt::format("{}: argument '{}' has no memory", kernel.name, kernel.arguments[i].name));
  }
}

}  // namespace

namespace detail {

Launch check_launch(const Device& device, const KernelInfo& kernel, std::vector<LaunchArgument> arguments) {
  IntegerArguments given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelInfo::Argument& row = kernel.arguments[i];
    if (arguments[i].is_span == row.size.empty())
      throw Error(ExitCode::device,
                  fmt::format("kernel catalogue: {}: '{}' is {} in the prototype and not in its row", kernel.name,
                              row.name, arguments[i].is_span ? "a pointer" : "a scalar"));
    if (arguments[i].is_integer) given[row.name] = arguments[i].integer;
  }
  check_sizes(kernel, arguments, given);
  check_overlap(kernel, arguments);
  Launch launch;
  launch.kernel = &kernel;
  launch.grid = device.grid_for(kernel, evaluate(kernel.work, given));
  launch.arguments = std::move(arguments);
  return launch;
}

}  // namespace detail
}  // namespace foxhunt
