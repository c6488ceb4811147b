#pragma once
#include "core/isv_slots.h"
#include "cuda/device.cuh"

namespace foxhunt::cuda {

/// Notes a non-finite value; the iteration's update is then refused on the device. Integer atomics: the same count
/// whatever the order. FOXHUNT_GUARDS_OFF leaves it, and with it every check that leads here, out of the kernels:
/// only to measure what the guards cost.
DEVICE void report_nonfinite(uint32_t* counters, NonfiniteIn where) {
#ifdef FOXHUNT_GUARDS_OFF
  (void)counters, (void)where;
#else
  atomicAdd(&counters[counter_nonfinite], 1u);
  atomicOr(&counters[counter_nonfinite_mask], static_cast<unsigned>(where));
#endif
}

/// Whether this iteration may change parameters, moments and priorities.
DEVICE bool update_allowed(const uint32_t* counters) {
  return counters[counter_learning] != 0 && counters[counter_nonfinite] == 0;
}

}  // namespace foxhunt::cuda
