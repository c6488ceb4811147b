// planted_faults NAME: commits one fault on the GPU, for scripts/gpu-check to see that the tool meant for it reports
// it. Each kernel has its fault's name, and a report counts only when it names the kernel: a failing CUDA call is not
// the fault. planted_faults gpu: prints the GPU's name, compute capability and the newest CUDA version of its driver,
// one a line. Exit code: 0 ran (a fault may go unnoticed by the program itself), 1 a CUDA call failed, 2 no such name.
#include <cstdio>
#include <cstring>

namespace {

constexpr int threads = 128;

/// memcheck. out: [threads - 1], one too few.
__global__ void out_of_bounds_write(int*, int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

/// racecheck. Warps read what other warps write, and nothing orders the two. out: [threads]
__global__ void shared_memory_race(int*, int* out) {
  __shared__ int tile[threads];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = tile[threads - 1 - threadIdx.x];
}

/// initcheck. nothing: [threads], never written. out: [threads]
__global__ void uninitialised_read(int* nothing, int* out) { out[threadIdx.x] = nothing[threadIdx.x]; }

/// synccheck. Lane 16 waits at a barrier whose mask leaves it out; it does not hang, since no lane waits for another
/// that never comes. out: [threads]
__global__ void illegal_barrier(int*, int* out) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mask = __ballot_sync(0xffffffffu, lane < 16);
  if (lane <= 16) {
    out[threadIdx.x] = 1;
    __syncwarp(mask);
    out[threadIdx.x ^ 1] += 1;
  }
}

struct Fault {
  const char* name;
  void (*kernel)(int*, int*);
  int out_length;
};
constexpr Fault faults[] = {
    {"out_of_bounds_write", out_of_bounds_write, threads - 1},
    {"shared_memory_race", shared_memory_race, threads},
    {"uninitialised_read", uninitialised_read, threads},
    {"illegal_barrier", illegal_barrier, threads},
};

bool worked(cudaError_t error, const char* call) {
  if (error != cudaSuccess) std::fprintf(stderr, "planted_faults: %s: %s\n", call, cudaGetErrorString(error));
  return error == cudaSuccess;
}

int describe_gpu() {
  cudaDeviceProp properties{};
  int cuda = 0;
  if (!worked(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties") ||
      !worked(cudaDriverGetVersion(&cuda), "cudaDriverGetVersion"))
    return 1;
  std::printf("%s\n%d.%d\n%d.%d\n", properties.name, properties.major, properties.minor, cuda / 1000, cuda % 1000 / 10);
  return 0;
}

int commit(const Fault& fault) {
  int *nothing = nullptr, *out = nullptr;
  const std::size_t out_bytes = static_cast<std::size_t>(fault.out_length) * sizeof(int);
  if (!worked(cudaMalloc(&nothing, threads * sizeof(int)), "cudaMalloc") ||
      !worked(cudaMalloc(&out, out_bytes), "cudaMalloc") || !worked(cudaMemset(out, 0, out_bytes), "cudaMemset"))
    return 1;
  fault.kernel<<<1, threads>>>(nothing, out);
  if (!worked(cudaGetLastError(), "launch") || !worked(cudaDeviceSynchronize(), fault.name)) return 1;
  cudaFree(nothing);
  cudaFree(out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc == 2 ? argv[1] : "";
  if (std::strcmp(name, "gpu") == 0) return describe_gpu();
  for (const Fault& fault : faults)
    if (std::strcmp(name, fault.name) == 0) return commit(fault);
  std::fprintf(stderr, "usage: planted_faults gpu");
  for (const Fault& fault : faults) std::fprintf(stderr, " | %s", fault.name);
  std::fprintf(stderr, "\n");
  return 2;
}
