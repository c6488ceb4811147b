// Stands for cuda_device.cpp in a build without the CUDA toolkit.
#include "core/device/cuda_device.h"

namespace foxhunt {

int cuda_device_count(std::string& why) {
  why = "built without the CUDA toolkit";
  return 0;
}

std::unique_ptr<Device> open_cuda_device(int, const DeviceOptions&) {
  throw Error(ExitCode::device,
              "this binary was built without the CUDA toolkit; rebuild with nvcc 12.8 or newer on PATH");
}

}  // namespace foxhunt
