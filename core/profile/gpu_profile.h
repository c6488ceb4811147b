#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "core/profile/profile.h"

namespace foxhunt::profile {

/// What the choice of a GPU profile looks at.
struct GpuCard {
  std::string name;
  int major = 0, minor = 0;      ///< compute capability
  std::size_t memory_bytes = 0;  ///< all of the card, free or not
};

/// Name of the shipped profile whose sizes suit the card: gpu-h200, gpu-24gb, gpu-rtx3050; "none" where no sizes were
/// chosen for one so small or old.
std::string gpu_profile_for(const GpuCard& card);

/// Finds the card of a profile that says gpu_profile = "auto" and names the GPU profile for it. The profile is complete
/// but for those sizes. May throw Error.
using GpuProfileChoice = std::function<std::string(const Profile& loaded)>;

}  // namespace foxhunt::profile
