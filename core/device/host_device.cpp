#include "core/device/host_device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/device/thread_pool.h"
#include "core/kernels.h"

namespace foxhunt {
namespace {

/// Blocks of a host launch: enough to spread over cores, the same on every machine.
constexpr unsigned host_grid = 16;
constexpr std::size_t alignment = 256;

/// Runs the blocks of launches, spread over the pool.
class HostBlocks {
 public:
  HostBlocks(int pool_threads, int block_threads)
      : pool_(pool_threads), threads_(block_threads > 0 ? block_threads : host_block_sizes().front()) {
    const auto& sizes = host_block_sizes();
    if (std::find(sizes.begin(), sizes.end(), threads_) == sizes.end())
      throw Error(ExitCode::usage, "host: blocks of " + std::to_string(threads_) + " threads; this build runs " +
                                       std::to_string(sizes.front()) + (sizes.size() > 1 ? " and more" : " only"));
  }

  int pool_size() const { return pool_.size(); }
  void run(const Launch& launch) {
    if (!launch.kernel) return launch.host_call();
    pool_.run(launch.grid, [&](unsigned block) { run_host_block(threads_, block, launch.grid, launch.host_call); });
  }

 private:
  ThreadPool pool_;
  int threads_;
};

class HostProgram : public Program {
 public:
  HostProgram(HostBlocks& blocks, std::vector<Launch> steps) : blocks_(blocks) { launches_ = std::move(steps); }
  void run(int times) override {
    for (int i = 0; i < times; ++i)
      for (const Launch& launch : launches_) blocks_.run(launch);
  }

 private:
  HostBlocks& blocks_;
};

class HostFence : public Fence {
 public:
  void wait() override {}
};

class HostDevice : public Device {
 public:
  HostDevice(const DeviceOptions& options, const std::string& why)
      : blocks_(options.host_threads, options.block_threads),
        most_blocks_(options.most_blocks > 0 ? std::min(options.most_blocks, host_grid) : host_grid),
        why_(why) {}
  ~HostDevice() override { release_staging(); }

  bool is_gpu() const override { return false; }
  std::string description() const override {
    return "host, " + std::to_string(blocks_.pool_size()) + (blocks_.pool_size() == 1 ? " thread" : " threads") +
           (why_.empty() ? "" : " (" + why_ + ")");
  }
  std::size_t free_memory() const override;

  void* allocate(std::size_t bytes) override {
    const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    if (!memory) throw Error(ExitCode::device, "host memory: cannot allocate " + std::to_string(bytes) + " bytes");
    std::memset(memory, 0, rounded);
    return memory;
  }
  void release(void* memory) noexcept override { std::free(memory); }
  void* allocate_mapped(std::size_t bytes, void** device_address) override { return *device_address = allocate(bytes); }
  void release_mapped(void* memory) noexcept override { std::free(memory); }

  void submit(Launch launch) override {
    if (recording_) {
      recording_->push_back(std::move(launch));
    } else {
      blocks_.run(launch);
    }
  }
  void copy_bytes(void* to, const void* from, std::size_t bytes) override {
    submit_call([=] { std::memcpy(to, from, bytes); });
  }
  void zero_bytes(void* at, std::size_t bytes) override {
    submit_call([=] { std::memset(at, 0, bytes); });
  }

  bool recording() const override { return recording_ != nullptr; }
  std::unique_ptr<Program> record(const std::function<void()>& body) override {
    if (recording_) throw Error(ExitCode::device, "record: a program is being recorded already");
    std::vector<Launch> steps;
    recording_ = &steps;
    try {
      body();
    } catch (...) {
      recording_ = nullptr;
      throw;
    }
    recording_ = nullptr;
    return std::make_unique<HostProgram>(blocks_, std::move(steps));
  }
  void side_by_side(const std::function<void()>& first, const std::function<void()>& second) override {
    first();
    second();
  }
  std::unique_ptr<Fence> fence() override { return std::make_unique<HostFence>(); }
  void synchronize() override {}

  unsigned grid_limit(int) const override { return most_blocks_; }
  std::int64_t items_a_block(const KernelInfo& kernel) const override {
    switch (kernel.unit) {
      case WorkUnit::thread:
        return 8192;
      case WorkUnit::tile:
        return 64;
      case WorkUnit::block:
      case WorkUnit::fixed_block:
        return 1;
    }
    return 1;
  }

 private:
  void submit_call(std::function<void()> call) {
    Launch step;
    step.host_call = std::move(call);
    submit(std::move(step));
  }

  HostBlocks blocks_;
  unsigned most_blocks_;
  std::string why_;
  std::vector<Launch>* recording_ = nullptr;
};

std::size_t HostDevice::free_memory() const {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  std::size_t kib;
  for (std::string unit; meminfo >> key >> kib; std::getline(meminfo, unit))
    if (key == "MemAvailable:") return kib * 1024;
  return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::unique_ptr<Device> open_host_device(const DeviceOptions& options, const std::string& why) {
  return std::make_unique<HostDevice>(options, why);
}

}  // namespace foxhunt
