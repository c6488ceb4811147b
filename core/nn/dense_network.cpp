#include "core/nn/dense_network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/device/launch.h"

namespace foxhunt::nn {
namespace {

std::size_t layer_floats(const DenseNetwork& network, int layer) {
  const LayerTable& t = network.table();
  return static_cast<std::size_t>((t.inputs[layer] + 1) * t.outputs[layer]);
}

/// The floats of one layer's matrix [inputs + 1, outputs] within a parameter vector.
template <class T>
DeviceSpan<T> layer_part(const DenseNetwork& network, DeviceSpan<T> parameters, int layer) {
  return parameters.part(static_cast<std::size_t>(network.table().offset[layer]), layer_floats(network, layer));
}

}  // namespace

DenseNetwork::DenseNetwork(int inputs, std::span<const std::int64_t> hidden, int outputs, bool spectral) {
  if (hidden.size() + 1 > max_layers)
    throw Error(ExitCode::usage, "network.hidden: at most " + std::to_string(max_layers - 1) + " layers");
  int width = inputs;
  const auto add = [&](int next, bool spectral_layer) {
    const int l = table_.layers++;
    table_.offset[l] = parameters_;
    table_.inputs[l] = width;
    table_.outputs[l] = next;
    table_.spectral[l] = spectral_layer;
    parameters_ += ((width + 1) * next + 3) / 4 * 4;  // every layer starts on 16 bytes
    width = next;
  };
  for (const std::int64_t h : hidden) add(static_cast<int>(h), spectral);
  add(outputs, false);
}

int DenseNetwork::widest() const {
  int width = 0;
  for (int l = 0; l < layers(); ++l) width = std::max({width, table_.inputs[l], table_.outputs[l]});
  return width;
}

std::vector<float> DenseNetwork::initial_parameters(std::uint64_t seed) const {
  std::vector<float> values(static_cast<std::size_t>(parameters_), 0.0f);
  std::mt19937_64 random(seed);
  for (int l = 0; l < layers(); ++l) {
    const double bound = std::sqrt(6.0 / table_.inputs[l]) * (l + 1 == layers() ? 0.1 : 1.0);
    float* w = values.data() + table_.offset[l];
    for (int i = 0; i < table_.inputs[l] * table_.outputs[l]; ++i) {
      const double uniform =
          static_cast<double>(random() >> 11) * 0x1p-53;  // the standard's distributions differ by library
      w[i] = static_cast<float>(bound * (2.0 * uniform - 1.0));
    }
  }
  return values;
}

Activations Activations::rows(const DenseNetwork& network, int first, int count) const {
  Activations part;
  for (std::size_t l = 0; l < layer.size(); ++l) {
    const auto width = static_cast<std::size_t>(network.outputs(static_cast<int>(l)));
    part.layer.push_back(
        layer[l].part(static_cast<std::size_t>(first) * width, static_cast<std::size_t>(count) * width));
  }
  return part;
}

void forward(Device& device, const DenseNetwork& network, DeviceSpan<const float> parameters,
             DeviceSpan<const float> input, const Activations& activations, int rows) {
  for (int l = 0; l < network.layers(); ++l) {
    const DeviceSpan<const float> x = l == 0 ? input : DeviceSpan<const float>(activations.layer[l - 1]);
    launch(device, dense_forward_kernel, x, layer_part(network, parameters, l), activations.layer[l], rows,
           network.outputs(l), network.table().inputs[l], l + 1 < network.layers() ? 1 : 0);
  }
}

int gradient_splits(int inputs, int outputs, int rows) {
  constexpr int wanted_blocks = 528, tile = 64;
  const int tiles = ((inputs + tile - 1) / tile) * ((outputs + tile - 1) / tile);
  return std::max(1, std::min(wanted_blocks / tiles, rows / 64));
}

std::size_t partial_floats(int inputs, int outputs, int rows) {
  return static_cast<std::size_t>(gradient_splits(inputs, outputs, rows)) *
         static_cast<std::size_t>((inputs + 1) * outputs);
}

std::size_t partial_floats(const DenseNetwork& network, int rows) {
  std::size_t floats = 0;
  for (int l = 0; l < network.layers(); ++l)
    floats += partial_floats(network.table().inputs[l], network.outputs(l), rows);
  return floats;
}

void weight_gradient(Device& device, DeviceSpan<const float> x, DeviceSpan<const float> dy, DeviceSpan<float> partial,
                     DeviceSpan<float> gradient, int rows, int outputs, int inputs) {
  const int floats = (inputs + 1) * outputs, splits = gradient_splits(inputs, outputs, rows);
  launch(device, dense_backward_weight_kernel, x, dy, partial, rows, outputs, inputs, splits, floats);
  launch(device, reduce_partials_kernel, partial, gradient, floats, splits);
}

void backward(Device& device, const DenseNetwork& network, DeviceSpan<const float> parameters,
              DeviceSpan<const float> input, const Activations& activations, const BackwardScratch& scratch,
              DeviceSpan<float> gradient, int rows) {
  std::size_t first = 0;
  for (int l = network.layers() - 1; l >= 0; --l) {
    const int n = network.outputs(l), k = network.table().inputs[l];
    const DeviceSpan<const float> x = l == 0 ? input : DeviceSpan<const float>(activations.layer[l - 1]);
    const DeviceSpan<float> partial = scratch.partial.part(first, partial_floats(k, n, rows));
    first += partial.size;
    const auto of_weights = [&] {
      weight_gradient(device, x, scratch.d_output[l], partial, layer_part(network, gradient, l), rows, n, k);
    };
    const auto of_data = [&] {
      launch(device, dense_backward_data_kernel, scratch.d_output[l], layer_part(network, parameters, l), x,
             scratch.d_output[l - 1], rows, n, k);
    };
    if (l > 0) {
      device.side_by_side(of_data, of_weights);
    } else {
      of_weights();
    }
  }
}

}  // namespace foxhunt::nn
