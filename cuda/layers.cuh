#pragma once
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// Where element i of the flat parameter vector lies; layer -1 for padding between layers.
struct Place {
  int layer, row;
  DEVICE bool is_bias(const LayerTable& t) const { return layer >= 0 && row == t.inputs[layer]; }
};

DEVICE Place locate(const LayerTable& table, int i) {
  for (int l = 0; l < table.layers; ++l) {
    const int inside = i - table.offset[l];
    if (inside >= 0 && inside < (table.inputs[l] + 1) * table.outputs[l]) return {l, inside / table.outputs[l]};
  }
  return {-1, 0};
}

}  // namespace foxhunt::cuda
