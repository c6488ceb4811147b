#include "core/run/diagnosis.h"

#include <fmt/format.h>

#include <cmath>

#include "core/run/safetensors.h"

namespace foxhunt::run {
namespace {

std::vector<float> values_of(Device& device, const LaunchArgument& argument) {
  return device.download(DeviceSpan<const float>(static_cast<const float*>(argument.data), argument.size));
}

std::string arena_name(const Arena& arena, const void* data) {
  for (const Arena::Entry& entry : arena.entries()) {
    const DeviceSpan<std::byte> memory = arena.memory(entry);
    const auto* at = static_cast<const std::byte*>(data);
    if (at >= memory.data && at < memory.data + memory.size) return entry.name;
  }
  return "outside the arena";
}

/// The first non-finite element among the spans that the launch reads (or writes).
std::optional<NonfiniteFind> look(Device& device, const Launch& launch, const Arena& arena, bool written) {
  for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
    const LaunchArgument& argument = launch.arguments[a];
    if (!argument.is_float || argument.size == 0 || (written && !argument.written)) continue;
    // What a kernel only writes holds the iteration before until it has run.
    if (!written && argument.written) continue;
    const std::vector<float> values = values_of(device, argument);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        return NonfiniteFind{&launch, a, arena_name(arena, argument.data), i, values[i], written};
  }
  return std::nullopt;
}

}  // namespace

std::string NonfiniteFind::text() const {
  return fmt::format("{} by {}: {}[{}] = {} ({})", written ? "written" : "read", launch->kernel->name,
                     launch->kernel->arguments[argument].name, index, value, tensor);
}

std::optional<NonfiniteFind> find_nonfinite(Device& device, const Program& program, const Arena& arena) {
  for (const Launch& launch : program.launches()) {
    if (!launch.kernel) continue;
    if (auto found = look(device, launch, arena, false)) return found;
    device.submit(launch);
    if (auto found = look(device, launch, arena, true)) return found;
  }
  return std::nullopt;
}

void dump_arguments(Device& device, const NonfiniteFind& find, const std::filesystem::path& file) {
  std::vector<std::vector<float>> values;
  std::vector<TensorView> views;
  values.reserve(find.launch->arguments.size());
  for (std::size_t a = 0; a < find.launch->arguments.size(); ++a) {
    const LaunchArgument& argument = find.launch->arguments[a];
    if (!argument.is_float) continue;
    values.push_back(values_of(device, argument));
    views.push_back(tensor_view(find.launch->kernel->arguments[a].name, {static_cast<std::int64_t>(argument.size)},
                                std::span<const float>(values.back())));
  }
  save_safetensors(file, views, {{"kernel", find.launch->kernel->name}, {"finding", find.text()}});
}

}  // namespace foxhunt::run
