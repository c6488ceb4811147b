#pragma once
#include "core/device/device.h"

namespace foxhunt {

/// GPUs that the driver shows; 0 with the reason in `why` when there is no driver, no card, or no CUDA target built in.
int cuda_device_count(std::string& why);

/// Loads every fatbin and resolves every kernel of the catalogue; throws Error(device) when one is missing.
std::unique_ptr<Device> open_cuda_device(int ordinal, const DeviceOptions& options);

}  // namespace foxhunt
