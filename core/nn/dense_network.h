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

/// Runs of rows over which the weight gradient of a layer is summed, all at once, before it is summed over the runs:
/// enough blocks to fill a large card, at least 64 rows a run. A function of the shapes alone, so the sum's order is
/// too.
int gradient_splits(int inputs, int outputs, int rows);
/// Floats that the runs of one layer take, and of all layers.
std::size_t partial_floats(int inputs, int outputs, int rows);
std::size_t partial_floats(const DenseNetwork& network, int rows);

/// x [rows, inputs] and dy [rows, outputs] -> gradient [inputs + 1, outputs] of a layer y = x W + b, through
/// `partial` [partial_floats].
void weight_gradient(Device& device, DeviceSpan<const float> x, DeviceSpan<const float> dy, DeviceSpan<float> partial,
                     DeviceSpan<float> gradient, int rows, int outputs, int inputs);

/// From d_output of the last layer to gradient [parameters].
void backward(Device& device, const DenseNetwork& network, DeviceSpan<const float> parameters,
              DeviceSpan<const float> input, const Activations& activations, const BackwardScratch& scratch,
              DeviceSpan<float> gradient, int rows);

}  // namespace foxhunt::nn
