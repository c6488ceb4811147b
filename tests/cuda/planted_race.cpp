// Threads of a block that read what their neighbours wrote, with a barrier between or without: proof that
// ThreadSanitizer is awake and sees through threaded blocks.
#include <cstdio>
#include <cstring>

#include "cuda/device.cuh"

#include "core/kernels.h"

namespace {

void neighbours(float* out, bool with_barrier) {
  SHARED_ARRAY(float, shared, 96);
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (with_barrier) __syncthreads();
  out[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}

}  // namespace

int main(int count, char** arguments) {
  const bool with_barrier = count == 2 && std::strcmp(arguments[1], "with-barrier") == 0;
  float out[96];
  for (const int threads : foxhunt::host_block_sizes()) {
    foxhunt::run_host_block(threads, 0, 1, [&] { neighbours(out, with_barrier); });
    if (with_barrier && out[threads - 1] != 0.0f) return 1;
  }
  std::puts("done");
}
