#include <charconv>

#include "core/device/cuda_device.h"
#include "core/device/host_device.h"

namespace foxhunt {

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  if (name == "host") return open_host_device(options, "");
  std::string why;
  if (name == "auto") return cuda_device_count(why) > 0 ? open_cuda_device(0, options) : open_host_device(options, why);
  if (name.starts_with("cuda:")) {
    int ordinal = -1;
    const std::string_view digits = name.substr(5);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
    if (error == std::errc() && end == digits.data() + digits.size() && ordinal >= 0) {
      const int count = cuda_device_count(why);
      if (ordinal < count) return open_cuda_device(ordinal, options);
      throw Error(ExitCode::device, "device " + std::string(name) + ": there is no such GPU here (" +
                                        (count == 0 ? why : std::to_string(count) + " present") +
                                        "); use --device auto or host");
    }
  }
  throw Error(ExitCode::usage, "device '" + std::string(name) + "': expected auto, host or cuda:N");
}

std::vector<std::string> present_devices() {
  std::vector<std::string> names = {"host"};
  std::string why;
  const int count = cuda_device_count(why);
  for (int i = 0; i < count; ++i) names.push_back("cuda:" + std::to_string(i));
  return names;
}

}  // namespace foxhunt
