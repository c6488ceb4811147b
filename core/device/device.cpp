#include "core/device/device.h"

#include <algorithm>
#include <cstring>

namespace foxhunt {
namespace {
constexpr std::size_t staging_bytes = 8u << 20;
}

unsigned Device::grid_for(const KernelInfo& kernel, std::int64_t work) const {
  const std::int64_t per_block = items_a_block(kernel);
  const std::int64_t blocks = (std::max<std::int64_t>(work, 1) + per_block - 1) / per_block;
  return static_cast<unsigned>(std::min<std::int64_t>(blocks, grid_limit(kernel.threads)));
}

void Device::stage(void* device, const void* host, std::size_t bytes, bool to_device) {
  if (recording())
    throw Error(ExitCode::device, "upload or download while a program is recorded: do it before or after");
  if (!staging_) staging_ = allocate_mapped(staging_bytes, &staging_device_);
  for (std::size_t done = 0; done < bytes; done += staging_bytes) {
    const std::size_t part = std::min(staging_bytes, bytes - done);
    char* const at = static_cast<char*>(device) + done;
    if (to_device) {
      std::memcpy(staging_, static_cast<const char*>(host) + done, part);
      copy_bytes(at, staging_device_, part);
      synchronize();  // the staging buffer is free again only then
    } else {
      copy_bytes(staging_device_, at, part);
      synchronize();
      std::memcpy(static_cast<char*>(const_cast<void*>(host)) + done, staging_, part);
    }
  }
}

void Device::release_staging() noexcept {
  if (staging_) release_mapped(staging_);
  staging_ = staging_device_ = nullptr;
}

}  // namespace foxhunt
