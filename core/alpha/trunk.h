#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/device/arena.h"
#include "core/kernels.h"

namespace foxhunt::alpha {

struct TrunkShape {
  int hidden = 128;       ///< width of the state, at most max_hidden
  float tau_min = 0.01f;  ///< seconds; the shortest time constant
};

/// Where the alpha model's matrices lie in one flat parameter vector, each [inputs + 1, outputs].
class TrunkLayout {
 public:
  enum Matrix : int {
    input,      ///< [40 + 1, hidden]: W_in, and b as the last row
    recurrent,  ///< [hidden + 1, hidden]: W_rec, and theta as the last row
    projector,  ///< [hidden + 1, 8]
    heads,      ///< [8 + 1, 5]
    matrices
  };
  /// Throws Error(usage) for a width outside 1 to max_hidden.
  explicit TrunkLayout(int hidden);

  const LayerTable& table() const { return table_; }
  int parameters() const { return parameters_; }
  int inputs(Matrix m) const { return table_.inputs[m]; }
  int outputs(Matrix m) const { return table_.outputs[m]; }
  std::size_t floats(Matrix m) const { return static_cast<std::size_t>((inputs(m) + 1) * outputs(m)); }
  template <class T>
  DeviceSpan<T> part(DeviceSpan<T> parameters, Matrix m) const {
    return parameters.part(static_cast<std::size_t>(table_.offset[m]), floats(m));
  }
  std::span<const float> part(std::span<const float> parameters, Matrix m) const {
    return parameters.subspan(static_cast<std::size_t>(table_.offset[m]), floats(m));
  }

  /// Uniform weights by fan-in, zero biases, time constants spread evenly in their logarithm from 10 ms to 10 s.
  std::vector<float> initial_parameters(std::uint64_t seed, float tau_min) const;

 private:
  LayerTable table_{};
  int parameters_ = 0;
};

/// The alpha model's forward and backward pass over windows of snapshots (DESIGN 10), and all buffers that they need,
/// allocated once. Rows: windows * (steps + 1), see core/alpha_kernels.h.
class CfcTrunk {
 public:
  CfcTrunk(Device& device, const TrunkShape& shape, int windows, int steps);
  CfcTrunk(const CfcTrunk&) = delete;
  CfcTrunk& operator=(const CfcTrunk&) = delete;

  void plan(Arena& arena) {
    plan_initial_state(arena);
    plan_scratch(arena);
  }
  /// The two halves of plan, for an owner that keeps the initial states beside what else it hands from step to step.
  void plan_initial_state(Arena& arena);
  void plan_scratch(Arena& arena);

  const TrunkLayout& layout() const { return layout_; }
  const TrunkShape& shape() const { return shape_; }
  int windows() const { return windows_; }
  int steps() const { return steps_; }
  int rows() const { return windows_ * (steps_ + 1); }

  /// From x() and seconds(), and initial_state(), to projection() and logits().
  void forward(DeviceSpan<const float> parameters);
  /// From d_logits() to gradient [parameters], after forward.
  void backward(DeviceSpan<const float> parameters, DeviceSpan<float> gradient);

  DeviceSpan<float> x() const { return x_; }                    ///< [rows, 40]
  DeviceSpan<float> seconds() const { return seconds_; }        ///< [rows]
  DeviceSpan<float> initial_state() const { return initial_; }  ///< [windows, hidden]; zero at first
  DeviceSpan<float> state() const { return state_; }            ///< [rows, hidden]
  DeviceSpan<float> projection() const { return projection_; }  ///< [rows, 8]
  DeviceSpan<float> logits() const { return logits_; }          ///< [rows, 5]
  DeviceSpan<float> d_logits() const { return d_logits_; }      ///< [rows, 5]

 private:
  Device& device_;
  TrunkShape shape_;
  TrunkLayout layout_;
  int windows_, steps_;
  DeviceSpan<float> x_, seconds_, initial_, drive_, state_, candidate_, projection_, logits_;
  DeviceSpan<float> d_logits_, d_projected_, d_state_, d_drive_, d_theta_, partial_;
};

}  // namespace foxhunt::alpha
