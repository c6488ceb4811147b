#pragma once
#include "cuda/device.cuh"

#include "core/kernels.h"

namespace foxhunt::cuda {

/// Softmax of up to max_atoms logits in a form that neither overflows nor loses the largest: exponentials relative to
/// the largest logit, kept in registers, and their sum. All lanes of the tile call all members together.
struct Softmax {
  TileVector<max_atoms> exponential;
  float largest = -INFINITY, sum = 0.0f;

  DEVICE Softmax(const Tile& tile, int atoms, const TileVector<max_atoms>& logits) : exponential(logits) {
    exponential.for_each(tile, atoms, [&](int, float& e) { largest = fmaxf(largest, e); });
    largest = tile.max(largest);
    exponential.for_each(tile, atoms, [&](int, float& e) {
      e = expf(e - largest);
      sum += e;
    });
    sum = tile.sum(sum);
  }
  DEVICE Softmax(const Tile& tile, int atoms, const float* logits) : Softmax(tile, atoms, load(tile, atoms, logits)) {}

  /// Calls f(z, probability of z) for this lane's atoms.
  template <class F>
  DEVICE void for_each(const Tile& tile, int atoms, F f) {
    const float share = 1.0f / sum;
    exponential.for_each(tile, atoms, [&](int z, const float& e) { f(z, e * share); });
  }
  DEVICE float log_probability(float logit) const { return logit - largest - logf(sum); }

 private:
  DEVICE static TileVector<max_atoms> load(const Tile& tile, int atoms, const float* logits) {
    TileVector<max_atoms> vector;
    vector.for_each(tile, atoms, [&](int z, float& x) { x = logits[z]; });
    return vector;
  }
};

}  // namespace foxhunt::cuda
