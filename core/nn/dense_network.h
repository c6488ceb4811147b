#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/device/device.h"
#include "core/kernels.h"

namespace foxhunt::nn {

/// Shape of a stack of dense layers with ReLU between them, and where each lies in one flat parameter vector.
class DenseNetwork {
 public:
  /// `outputs` is the width of the last layer, which has no ReLU. `spectral` marks the hidden layers for spectral
  /// normalisation. Throws Error(usage) for more than max_layers layers.
  DenseNetwork(int inputs, std::span<const std::int64_t> hidden, int outputs, bool spectral);

  const LayerTable& table() const { return table_; }
  int layers() const { return table_.layers; }
  int inputs() const { return table_.inputs[0]; }
  int outputs(int layer) const { return table_.outputs[layer]; }
  int outputs() const { return outputs(layers() - 1); }
  int widest() const;  ///< largest input or output of a layer
  /// Floats in the parameter vector, padding between layers included.
  int parameters() const { return parameters_; }

  /// He-uniform weights and zero biases; the last layer's weights smaller by ten, so that a new agent prefers nothing.
  std::vector<float> initial_parameters(std::uint64_t seed) const;

 private:
  LayerTable table_{};
  int parameters_ = 0;
};

/// Outputs of every layer for some rows: activation[l] is [rows, outputs(l)].
struct Activations {
  std::vector<DeviceSpan<float>> layer;
  const DeviceSpan<float>& output() const { return layer.back(); }
  /// The same for rows [first, first + count).
  Activations rows(const DenseNetwork& network, int first, int count) const;
};

/// input [rows, inputs] -> activations.
void forward(Device& device, const DenseNetwork& network, DeviceSpan<const float> parameters,
             DeviceSpan<const float> input, const Activations& activations, int rows);

/// Scratch of a backward pass.
struct BackwardScratch {
  DeviceSpan<float> partial;                ///< [partial_floats(network, rows)]
  std::vector<DeviceSpan<float>> d_output;  ///< gradient of each layer's output [rows, outputs(l)]; the last is input
};

/// The weight gradient of a layer is summed over several runs of rows at once, then over the runs: floats that the runs
/// of all layers take. The number of runs is a function of the shapes alone, so the sum's order is too.
std::size_t partial_floats(const DenseNetwork& network, int rows);

/// From d_output of the last layer to gradient [parameters].
void backward(Device& device, const DenseNetwork& network, DeviceSpan<const float> parameters,
              DeviceSpan<const float> input, const Activations& activations, const BackwardScratch& scratch,
              DeviceSpan<float> gradient, int rows);

}  // namespace foxhunt::nn
