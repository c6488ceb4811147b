#include "app/card_profile.h"

#include "core/device/device.h"
#include "core/profile/gpu_profile.h"
#include "core/run/doctor.h"

namespace foxhunt::app {

std::string card_profile(const profile::Profile& loaded) {
  return profile::gpu_profile_for(run::card_of(open_device(loaded.device.device)->description()));
}

}  // namespace foxhunt::app
