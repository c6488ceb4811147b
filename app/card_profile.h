#pragma once
#include <string>

#include "core/profile/profile.h"

namespace foxhunt::app {

/// Opens the profile's device and names the GPU profile for it: what load_profile asks of gpu_profile = "auto".
std::string card_profile(const profile::Profile& loaded);

}  // namespace foxhunt::app
