#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "core/device/arena.h"

namespace foxhunt::run {

/// Where a program first met a non-finite float.
struct NonfiniteFind {
  const Launch* launch;
  std::size_t argument;  ///< of the launch
  std::string tensor;    ///< the arena's name of that memory
  std::size_t index;     ///< element of the argument's span
  float value;
  bool written;  ///< the kernel wrote it from finite inputs; else it was there when the kernel read it

  /// "written by mse_loss_kernel: loss[3] = inf (mse_loss)" or "read by dense_forward_kernel: x[7] = nan
  /// (observation)".
  std::string text() const;
};

/// Runs the launches of `program` once, one at a time, and looks at every float that each reads and writes. Slow: for a
/// run that has stopped.
std::optional<NonfiniteFind> find_nonfinite(Device& device, const Program& program, const Arena& arena);

/// Writes the float arguments of the launch as safetensors, a tensor an argument, to load elsewhere. Throws
/// Error(storage).
void dump_arguments(Device& device, const NonfiniteFind& find, const std::filesystem::path& file);

}  // namespace foxhunt::run
