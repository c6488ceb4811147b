#pragma once
#include <string>
#include <vector>

namespace foxhunt {

/// What one work item of a kernel takes; a fixed_block has just the stated number of threads on a GPU.
enum class WorkUnit { thread, tile, block, fixed_block };

/// One row of FOXHUNT_KERNELS (core/kernels.h), parsed.
struct KernelInfo {
  struct Argument {
    std::string name;
    std::string size;  ///< elements a span must have, an expression over the integer arguments; "" for a scalar
  };
  std::string name;
  const void* host_function;  ///< address of the host target's kernel: the key of a launch
  int threads;                ///< a block, on the GPU
  WorkUnit unit;
  std::string work;  ///< number of work items, an expression
  std::vector<Argument> arguments;
};

/// Every fixed kernel, in the order of core/kernels.h.
const std::vector<KernelInfo>& kernel_catalogue();

/// The row of a kernel; throws Error(device) for a function that the catalogue does not list.
const KernelInfo& kernel_info(const void* host_function);

}  // namespace foxhunt
