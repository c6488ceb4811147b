#include "core/alpha/trunk.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/device/launch.h"
#include "core/nn/dense_network.h"

namespace foxhunt::alpha {
namespace {
std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// theta for a time constant: the inverse of tau_min + softplus(theta).
float theta_of(double tau, double tau_min) {
  return static_cast<float>(std::log(std::expm1(std::max(tau - tau_min, 1e-4))));
}
}  // namespace

TrunkLayout::TrunkLayout(int hidden) {
  if (hidden < 1 || hidden > max_hidden)
    throw Error(ExitCode::usage,
                "alpha.hidden: " + std::to_string(hidden) + " is not within 1 and " + std::to_string(max_hidden));
  const auto add = [&](int inputs, int outputs) {
    const int l = table_.layers++;
    table_.offset[l] = parameters_;
    table_.inputs[l] = inputs;
    table_.outputs[l] = outputs;
    parameters_ += ((inputs + 1) * outputs + 3) / 4 * 4;  // every matrix starts on 16 bytes
  };
  add(snapshot_features, hidden);
  add(hidden, hidden);
  add(hidden, alpha_projections);
  add(alpha_projections, alpha_horizons);
}

std::vector<float> TrunkLayout::initial_parameters(std::uint64_t seed, float tau_min) const {
  std::vector<float> values(size(parameters_), 0.0f);
  std::mt19937_64 random(seed);
  for (int l = 0; l < table_.layers; ++l) {
    const double bound = std::sqrt((l == recurrent ? 1.0 : 3.0) / table_.inputs[l]) * (l == heads ? 0.1 : 1.0);
    float* w = values.data() + table_.offset[l];
    for (int i = 0; i < table_.inputs[l] * table_.outputs[l]; ++i) {
      const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
      w[i] = static_cast<float>(bound * (2.0 * uniform - 1.0));
    }
  }
  const int hidden = outputs(recurrent);
  float* theta = values.data() + table_.offset[recurrent] + hidden * hidden;
  for (int j = 0; j < hidden; ++j)
    theta[j] = theta_of(0.01 * std::pow(1000.0, hidden > 1 ? static_cast<double>(j) / (hidden - 1) : 0.5), tau_min);
  return values;
}

CfcTrunk::CfcTrunk(Device& device, const TrunkShape& shape, int windows, int steps)
    : device_(device), shape_(shape), layout_(shape.hidden), windows_(windows), steps_(steps) {}

void CfcTrunk::plan_initial_state(Arena& arena) {
  arena.plan("alpha.initial_state", size(windows_ * shape_.hidden), initial_);
}

void CfcTrunk::plan_scratch(Arena& arena) {
  const std::size_t states = size(rows()) * size(shape_.hidden);
  arena.plan("alpha.x", size(rows() * snapshot_features), x_);
  arena.plan("alpha.seconds", size(rows()), seconds_);
  arena.plan("alpha.drive", states, drive_);
  arena.plan("alpha.state", states, state_);
  arena.plan("alpha.candidate", states, candidate_);
  arena.plan("alpha.projection", size(rows() * alpha_projections), projection_);
  arena.plan("alpha.logits", size(rows() * alpha_horizons), logits_);
  arena.plan("alpha.d_logits", size(rows() * alpha_horizons), d_logits_);
  arena.plan("alpha.d_projected", size(rows() * alpha_projections), d_projected_);
  arena.plan("alpha.d_state", states, d_state_);
  arena.plan("alpha.d_drive", states, d_drive_);
  arena.plan("alpha.d_theta", size((windows_ + 3) / 4 * shape_.hidden), d_theta_);
  std::size_t partial = 0;
  for (int m = 0; m < TrunkLayout::matrices; ++m)
    partial += nn::partial_floats(layout_.table().inputs[m], layout_.table().outputs[m], rows());
  arena.plan("alpha.gradient_partials", partial, partial_);
}

void CfcTrunk::forward(DeviceSpan<const float> parameters) {
  const int hidden = shape_.hidden;
  launch(device_, dense_forward_kernel, x_, layout_.part(parameters, TrunkLayout::input), drive_, rows(), hidden,
         snapshot_features, 0);
  launch(device_, cfc_scan_forward_kernel, drive_, seconds_, layout_.part(parameters, TrunkLayout::recurrent), initial_,
         state_, candidate_, windows_, steps_, hidden, shape_.tau_min);
  launch(device_, multi_horizon_heads_kernel, state_, layout_.part(parameters, TrunkLayout::projector),
         layout_.part(parameters, TrunkLayout::heads), projection_, logits_, rows(), hidden);
}

void CfcTrunk::backward(DeviceSpan<const float> parameters, DeviceSpan<float> gradient) {
  const int hidden = shape_.hidden;
  launch(device_, multi_horizon_heads_backward_kernel, d_logits_, projection_,
         layout_.part(parameters, TrunkLayout::projector), layout_.part(parameters, TrunkLayout::heads), d_projected_,
         d_state_, rows(), hidden);
  launch(device_, cfc_scan_backward_kernel, d_state_, state_, candidate_, seconds_,
         layout_.part(parameters, TrunkLayout::recurrent), d_drive_, d_theta_, windows_, steps_, hidden,
         shape_.tau_min);
  std::size_t used = 0;
  const auto of_matrix = [&](TrunkLayout::Matrix m, DeviceSpan<const float> in, DeviceSpan<const float> d_out) {
    const int inputs = layout_.inputs(m), outputs = layout_.outputs(m);
    const DeviceSpan<float> partial = partial_.part(used, nn::partial_floats(inputs, outputs, rows()));
    used += partial.size;
    nn::weight_gradient(device_, in, d_out, partial, layout_.part(gradient, m), rows(), outputs, inputs);
  };
  of_matrix(TrunkLayout::input, x_, d_drive_);
  of_matrix(TrunkLayout::recurrent, state_, d_drive_);
  of_matrix(TrunkLayout::projector, state_, d_projected_);
  of_matrix(TrunkLayout::heads, projection_, d_logits_);
  // The last row of the recurrent matrix is no bias but theta: its gradient replaces the column sums put there.
  const DeviceSpan<float> theta =
      layout_.part(gradient, TrunkLayout::recurrent).part(size(hidden * hidden), size(hidden));
  launch(device_, reduce_partials_kernel, d_theta_, theta, hidden, (windows_ + 3) / 4);
}

}  // namespace foxhunt::alpha
