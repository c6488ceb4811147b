#include "core/device/cuda_device.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "core/device/fatbins.h"

namespace foxhunt {
namespace {

#define CUDA_CHECK(call) check_cuda((call), #call, __FILE__, __LINE__)

void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  const char* name = std::strrchr(file, '/');
  const std::string text(call, std::min(std::strcspn(call, "("), std::strlen(call)));
  throw Error(ExitCode::device, fmt::format("{} failed at {}:{}: {} ({})", text, name ? name + 1 : file, line,
                                            cudaGetErrorString(error), cudaGetErrorName(error)));
}

/// Owns a handle and the call that gives it back.
template <class Handle, auto destroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_) destroy(handle_);
  }
  Handle get() const { return handle_; }
  Handle* address() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

class CudaFence : public Fence {
 public:
  explicit CudaFence(cudaStream_t stream) {
    CUDA_CHECK(cudaEventCreateWithFlags(event_.address(), cudaEventDisableTiming));
    CUDA_CHECK(cudaEventRecord(event_.get(), stream));
  }
  void wait() override { CUDA_CHECK(cudaEventSynchronize(event_.get())); }

 private:
  Event event_;
};

class CudaDevice : public Device {
 public:
  CudaDevice(int ordinal, const DeviceOptions& options);
  ~CudaDevice() override;

  bool is_gpu() const override { return true; }
  std::string description() const override;
  std::size_t free_memory() const override;
  void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override { cudaFree(memory); }
  void* allocate_mapped(std::size_t bytes, void** device_address) override;
  void release_mapped(void* memory) noexcept override { cudaFreeHost(memory); }

  void submit(Launch launch) override;
  void copy_bytes(void* to, const void* from, std::size_t bytes) override;
  void zero_bytes(void* at, std::size_t bytes) override;
  bool recording() const override { return recording_ != nullptr; }
  std::unique_ptr<Program> record(const std::function<void()>& body) override;
  void side_by_side(const std::function<void()>& first, const std::function<void()>& second) override;
  std::unique_ptr<Fence> fence() override {
    select();
    return std::make_unique<CudaFence>(stream_.get());
  }
  void synchronize() override {
    select();
    CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
  }

  unsigned grid_limit(int threads) const override {
    const auto resident = static_cast<unsigned>(properties_.multiProcessorCount *
                                                std::max(1, properties_.maxThreadsPerMultiProcessor / threads));
    return options_.most_blocks > 0 ? std::min(resident, options_.most_blocks) : resident;
  }
  std::int64_t items_a_block(const KernelInfo& kernel) const override {
    switch (kernel.unit) {
      case WorkUnit::thread:
        return threads(kernel);
      case WorkUnit::tile:
        return threads(kernel) / 32;
      case WorkUnit::block:
      case WorkUnit::fixed_block:
        return 1;
    }
    return 1;
  }

  int threads(const KernelInfo& kernel) const {
    const bool given = options_.block_threads > 0 && kernel.unit != WorkUnit::fixed_block;
    return given ? std::min(kernel.threads, options_.block_threads) : kernel.threads;
  }
  /// The runtime's calls go to the device that the calling thread chose last; several may be open at once.
  void select() const { CUDA_CHECK(cudaSetDevice(ordinal_)); }
  /// Launches now, or into the graph being captured.
  void run_launch(const Launch& launch);
  /// Launches now, waits, and names the kernel if it failed.
  void run_alone(const Launch& launch);
  cudaStream_t stream() const { return stream_.get(); }

 private:
  void load_kernels();

  int ordinal_;
  DeviceOptions options_;
  cudaDeviceProp properties_{};
  Stream stream_, side_stream_;
  cudaStream_t current_ = nullptr;  ///< where work is queued: stream_, or side_stream_ within side_by_side
  Event fork_, join_;
  std::vector<cudaLibrary_t> libraries_;
  std::unordered_map<const KernelInfo*, cudaKernel_t> kernels_;
  std::vector<Launch>* recording_ = nullptr;
};

/// A captured graph.
class CudaProgram : public Program {
 public:
  CudaProgram(CudaDevice& device, cudaGraph_t graph, std::vector<Launch> launches) : device_(device), graph_(graph) {
    launches_ = std::move(launches);
    CUDA_CHECK(cudaGraphInstantiate(exec_.address(), graph_.get(), 0));
    CUDA_CHECK(cudaGraphUpload(exec_.get(), device.stream()));
  }
  void run(int times) override {
    device_.select();
    for (int i = 0; i < times; ++i) CUDA_CHECK(cudaGraphLaunch(exec_.get(), device_.stream()));
  }

 private:
  CudaDevice& device_;
  Graph graph_;
  GraphExec exec_;
};

/// The same launches without a graph, one at a time.
class CudaStepProgram : public Program {
 public:
  CudaStepProgram(CudaDevice& device, std::vector<Launch> launches) : device_(device) {
    launches_ = std::move(launches);
  }
  void run(int times) override {
    for (int i = 0; i < times; ++i)
      for (const Launch& launch : launches_) device_.run_alone(launch);
  }

 private:
  CudaDevice& device_;
};

CudaDevice::CudaDevice(int ordinal, const DeviceOptions& options) : ordinal_(ordinal), options_(options) {
  select();
  // The driver sets memory aside for a stack of every resident thread, for printf and for malloc in kernels: 260 MiB on
  // an H200, none of it used here. What a kernel's own frame needs it still gets.
  for (const auto& [limit, bytes] : {std::pair(cudaLimitStackSize, 0), std::pair(cudaLimitPrintfFifoSize, 64 << 10),
                                     std::pair(cudaLimitMallocHeapSize, 64 << 10)})
    if (cudaDeviceSetLimit(limit, static_cast<std::size_t>(bytes)) != cudaSuccess) cudaGetLastError();  // only a saving
  CUDA_CHECK(cudaGetDeviceProperties(&properties_, ordinal));
  CUDA_CHECK(cudaStreamCreateWithFlags(stream_.address(), cudaStreamNonBlocking));
  CUDA_CHECK(cudaStreamCreateWithFlags(side_stream_.address(), cudaStreamNonBlocking));
  CUDA_CHECK(cudaEventCreateWithFlags(fork_.address(), cudaEventDisableTiming));
  CUDA_CHECK(cudaEventCreateWithFlags(join_.address(), cudaEventDisableTiming));
  current_ = stream_.get();
  load_kernels();
}

CudaDevice::~CudaDevice() {
  cudaStreamSynchronize(stream_.get());
  release_staging();
  for (cudaLibrary_t library : libraries_) cudaLibraryUnload(library);
}

void CudaDevice::load_kernels() {
  std::unordered_map<std::string, cudaKernel_t> by_name;
  for (const Fatbin& fatbin : embedded_fatbins()) {
    cudaLibrary_t library = nullptr;
    CUDA_CHECK(cudaLibraryLoadData(&library, fatbin.data, nullptr, nullptr, 0, nullptr, nullptr, 0));
    libraries_.push_back(library);
    unsigned count = 0;
    CUDA_CHECK(cudaLibraryGetKernelCount(&count, library));
    std::vector<cudaKernel_t> kernels(count);
    CUDA_CHECK(cudaLibraryEnumerateKernels(kernels.data(), count, library));
    for (cudaKernel_t kernel : kernels) {
      const char* name = nullptr;
      CUDA_CHECK(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel)));
      by_name[name] = kernel;
    }
  }
  for (const KernelInfo& info : kernel_catalogue()) {
    const auto found = by_name.find(info.name);
    cudaError_t error = found == by_name.end() ? cudaErrorSymbolNotFound : cudaSuccess;
    cudaFuncAttributes attributes{};
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(found->second));
    if (error != cudaSuccess)
      throw Error(ExitCode::device,
                  fmt::format("{}: not usable on {} (sm_{}{}): {}; kernels were built for sm {}: rebuild with "
                              "FOXHUNT_CUDA_ARCHITECTURES={}{}, or use --device host",
                              info.name, properties_.name, properties_.major, properties_.minor,
                              cudaGetErrorString(error), fatbin_architectures(), properties_.major, properties_.minor));
    kernels_[&info] = found->second;
  }
}

std::string CudaDevice::description() const {
  return fmt::format("cuda:{}, {}, sm_{}{}, {:.1f} GiB free of {:.1f}", ordinal_, properties_.name, properties_.major,
                     properties_.minor, static_cast<double>(free_memory()) / (1 << 30),
                     static_cast<double>(properties_.totalGlobalMem) / (1 << 30));
}

std::size_t CudaDevice::free_memory() const {
  select();
  std::size_t free_bytes = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
  return free_bytes;
}

void* CudaDevice::allocate(std::size_t bytes) {
  select();
  void* memory = nullptr;
  CUDA_CHECK(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)));
  CUDA_CHECK(cudaMemsetAsync(memory, 0, bytes, stream_.get()));
  synchronize();
  return memory;
}

void* CudaDevice::allocate_mapped(std::size_t bytes, void** device_address) {
  select();
  void* memory = nullptr;
  CUDA_CHECK(cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocMapped));
  std::memset(memory, 0, bytes);
  CUDA_CHECK(cudaHostGetDevicePointer(device_address, memory, 0));
  return memory;
}

void CudaDevice::run_launch(const Launch& launch) {
  select();
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(launch.grid);
  config.blockDim = dim3(static_cast<unsigned>(threads(*launch.kernel)));
  config.stream = current_;
  const cudaError_t error = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernels_.at(launch.kernel)),
                                                const_cast<void**>(launch.values.data()));
  if (error != cudaSuccess)
    throw Error(ExitCode::device, fmt::format("{}: launch of {} blocks of {} threads failed: {}", launch.kernel->name,
                                              launch.grid, threads(*launch.kernel), cudaGetErrorString(error)));
}

void CudaDevice::run_alone(const Launch& launch) {
  if (!launch.kernel) {
    launch.host_call();
    return;
  }
  run_launch(launch);
  const cudaError_t error = cudaStreamSynchronize(stream_.get());
  if (error != cudaSuccess)
    throw Error(ExitCode::device, fmt::format("{} failed: {}", launch.kernel->name, cudaGetErrorString(error)));
}

void CudaDevice::submit(Launch launch) {
  if (!recording_ || options_.graphs) run_launch(launch);
  if (recording_) recording_->push_back(std::move(launch));
}

void CudaDevice::copy_bytes(void* to, const void* from, std::size_t bytes) {
  select();
  const auto call = [=, this] { CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, current_)); };
  if (!recording_ || options_.graphs) call();
  if (recording_) recording_->emplace_back().host_call = call;
}

void CudaDevice::zero_bytes(void* at, std::size_t bytes) {
  select();
  const auto call = [=, this] { CUDA_CHECK(cudaMemsetAsync(at, 0, bytes, current_)); };
  if (!recording_ || options_.graphs) call();
  if (recording_) recording_->emplace_back().host_call = call;
}

void CudaDevice::side_by_side(const std::function<void()>& first, const std::function<void()>& second) {
  if (current_ != stream_.get()) throw Error(ExitCode::device, "side_by_side: does not nest");
  CUDA_CHECK(cudaEventRecord(fork_.get(), stream_.get()));
  CUDA_CHECK(cudaStreamWaitEvent(side_stream_.get(), fork_.get(), 0));
  first();
  current_ = side_stream_.get();
  try {
    second();
  } catch (...) {
    current_ = stream_.get();
    throw;
  }
  current_ = stream_.get();
  CUDA_CHECK(cudaEventRecord(join_.get(), side_stream_.get()));
  CUDA_CHECK(cudaStreamWaitEvent(stream_.get(), join_.get(), 0));
}

std::unique_ptr<Program> CudaDevice::record(const std::function<void()>& body) {
  if (recording_) throw Error(ExitCode::device, "record: a program is being recorded already");
  select();
  std::vector<Launch> launches;
  recording_ = &launches;
  cudaGraph_t graph = nullptr;
  try {
    if (options_.graphs) CUDA_CHECK(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
    body();
    if (options_.graphs) CUDA_CHECK(cudaStreamEndCapture(stream_.get(), &graph));
  } catch (...) {
    recording_ = nullptr;
    if (options_.graphs && cudaStreamEndCapture(stream_.get(), &graph) == cudaSuccess && graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  recording_ = nullptr;
  if (!options_.graphs) return std::make_unique<CudaStepProgram>(*this, std::move(launches));
  return std::make_unique<CudaProgram>(*this, graph, std::move(launches));
}

}  // namespace

int cuda_device_count(std::string& why) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  why = error == cudaErrorInsufficientDriver                 ? "no NVIDIA driver"
        : error == cudaSuccess || error == cudaErrorNoDevice ? "no GPU"
                                                             : cudaGetErrorString(error);
  return 0;
}

std::unique_ptr<Device> open_cuda_device(int ordinal, const DeviceOptions& options) {
  return std::make_unique<CudaDevice>(ordinal, options);
}

}  // namespace foxhunt
