#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/catalogue.h"
#include "core/device/span.h"

namespace foxhunt {

/// One argument of a launch as the checks see it.
struct LaunchArgument {
  const void* data = nullptr;  ///< first byte of a span; nullptr for a scalar
  std::size_t size = 0;        ///< elements
  std::size_t bytes = 0;
  bool is_span = false;
  bool written = false;
  bool is_float = false;  ///< a span of float32
  bool is_integer = false;
  std::int64_t integer = 0;  ///< value of an integer scalar
};

/// A checked launch, ready for either target.
struct Launch {
  const KernelInfo* kernel = nullptr;
  unsigned grid = 1;
  std::vector<LaunchArgument> arguments;
  std::vector<void*> values;  ///< addresses of the arguments, owned by `storage`
  std::shared_ptr<void> storage;
  std::function<void()> host_call;  ///< runs one block on the calling thread
};

class Device;

/// A recorded sequence of launches: a CUDA graph, or on the host the launches kept to be called again.
class Program {
 public:
  virtual ~Program() = default;
  /// Queues `times` runs; returns before they are done on a GPU.
  virtual void run(int times = 1) = 0;
  /// The launches in order, with their spans: what the tests and a diagnosis look at.
  const std::vector<Launch>& launches() const { return launches_; }

 protected:
  std::vector<Launch> launches_;
};

/// A point in a device's work that the host can wait for.
class Fence {
 public:
  virtual ~Fence() = default;
  virtual void wait() = 0;
};

/// A GPU or the host, behind one face. One stream of work: everything queued runs in order. Calls that fail throw
/// Error(device) with the failing call or kernel.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual bool is_gpu() const = 0;
  virtual std::string description() const = 0;  ///< one line: what was taken
  virtual std::size_t free_memory() const = 0;  ///< bytes

  /// Memory of the device, 256-byte aligned, zeroed. Only Arena and tests call these.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Pinned host memory that kernels reach through `*device_address`, zeroed.
  virtual void* allocate_mapped(std::size_t bytes, void** device_address) = 0;
  virtual void release_mapped(void* memory) noexcept = 0;

  /// Queues a launch, or appends it to the program being recorded.
  virtual void submit(Launch launch) = 0;
  /// Queues a copy between two places that do not overlap, both reachable by the device.
  virtual void copy_bytes(void* to, const void* from, std::size_t bytes) = 0;
  virtual void zero_bytes(void* at, std::size_t bytes) = 0;

  /// Runs `body` once to collect its launches without executing them. Warm up first: what is recorded is not run.
  virtual bool recording() const = 0;
  virtual std::unique_ptr<Program> record(const std::function<void()>& body) = 0;
  /// Queues two pieces of work that touch no common memory but to read it: side by side on a GPU, where one alone would
  /// not fill it; one after the other on the host. What follows waits for both.
  virtual void side_by_side(const std::function<void()>& first, const std::function<void()>& second) = 0;
  virtual std::unique_ptr<Fence> fence() = 0;
  /// Waits for all queued work.
  virtual void synchronize() = 0;

  /// Largest grid worth launching for blocks of this many threads.
  virtual unsigned grid_limit(int threads) const = 0;
  /// Number of blocks for a launch of `work` items: a function of the kernel and the work alone, so that results do
  /// not depend on how busy or how wide the machine is.
  unsigned grid_for(const KernelInfo& kernel, std::int64_t work) const;
  virtual std::int64_t items_a_block(const KernelInfo& kernel) const = 0;

  template <class T>
  void copy(DeviceSpan<T> to, DeviceSpan<const T> from) {
    if (to.size != from.size) throw Error(ExitCode::device, "device copy: sizes differ");
    copy_bytes(to.data, from.data, to.bytes());
  }
  template <class T>
  void zero(DeviceSpan<T> span) {
    zero_bytes(span.data, span.bytes());
  }
  /// Host to device through mapped-pinned staging; done when it returns. Neither this nor download may be recorded.
  template <class T>
  void upload(DeviceSpan<T> to, std::span<const std::type_identity_t<T>> from) {
    if (to.size != from.size()) throw Error(ExitCode::device, "upload: sizes differ");
    stage(to.data, from.data(), to.bytes(), true);
  }
  /// Device to host through mapped-pinned staging; waits for queued work first.
  template <class T>
  std::vector<std::remove_const_t<T>> download(DeviceSpan<T> from) {
    std::vector<std::remove_const_t<T>> result(from.size);
    stage(const_cast<std::remove_const_t<T>*>(from.data), result.data(), from.bytes(), false);
    return result;
  }

 protected:
  Device() = default;
  /// Derived classes call it first in their destructor, while they can still release memory.
  void release_staging() noexcept;

 private:
  void stage(void* device, const void* host, std::size_t bytes, bool to_device);
  void* staging_ = nullptr;
  void* staging_device_ = nullptr;
};

struct DeviceOptions {
  int host_threads = 0;  ///< 0: all cores
  bool graphs = true;    ///< false: a program is run launch by launch, each waited for and named on failure
  /// For tests of launch shapes: threads a block, where the kernel has no fewer and no fixed_block; a multiple of 32.
  /// On the host one of host_block_sizes(). 0: as the catalogue states.
  int block_threads = 0;
  unsigned most_blocks = 0;  ///< for the same tests: largest grid; 0: what fills the device
};

/// "auto" takes the first GPU, or the host when there is none; "host"; "cuda:N". Throws Error(device) for a GPU that
/// is not there or that the kernels were not built for, Error(usage) for any other word.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options = {});

/// Names of every device present: "host", and "cuda:N" for each GPU. What kernel tests run on.
std::vector<std::string> present_devices();

}  // namespace foxhunt
