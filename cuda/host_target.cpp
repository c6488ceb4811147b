// Where the host target keeps what the GPU has in registers of the same name.
#include "cuda/device.cuh"

#include "core/kernels.h"

thread_local constinit HostDim threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{}, gridDim{};

void foxhunt::set_host_block(unsigned block, unsigned blocks) {
  blockIdx = {block, 0, 0};
  gridDim = {blocks, 1, 1};
}
