#pragma once
#include "core/device/device.h"

namespace foxhunt {

/// The kernels' host target: a block is one thread, blocks spread over a pool.
std::unique_ptr<Device> open_host_device(const DeviceOptions& options, const std::string& why);

}  // namespace foxhunt
