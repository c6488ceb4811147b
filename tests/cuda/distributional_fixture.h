#pragma once
// Launches of the distributional losses over host vectors.
#include "tests/cuda/kernel_fixture.h"

namespace foxhunt::test {

struct LossShape {
  int batch, actions, atoms;
  float v_min = -10.0f, v_max = 10.0f;
  std::size_t rows() const { return static_cast<std::size_t>(batch); }
  std::size_t values() const { return rows() * static_cast<std::size_t>(actions); }
  std::size_t logits() const { return values() * static_cast<std::size_t>(atoms); }
  float support(int atom) const {
    return v_min + (v_max - v_min) * static_cast<float>(atom) / static_cast<float>(atoms - 1);
  }
  std::size_t logit(int row, int action, int atom) const {
    return static_cast<std::size_t>((row * actions + action) * atoms + atom);
  }
};

/// What project_target_kernel reads besides the shape, with harmless values.
struct TargetInputs {
  explicit TargetInputs(const LossShape& s)
      : next_q(s.values(), 0.0f),
        next_logits(s.logits(), 0.0f),
        returns(s.rows(), 0.0f),
        discounts(s.rows(), 1.0f),
        priorities(s.rows(), 1.0f),
        isv(isv_with({{isv_beta, 0.5f}})),
        counters(counters_with({{counter_min_priority, std::bit_cast<std::uint32_t>(1.0f)}})) {}
  std::vector<float> next_q, next_logits, returns, discounts, priorities, isv;
  std::vector<std::uint32_t> counters;
};

struct Target {
  std::vector<float> distribution, mean, weight;
  std::vector<std::uint32_t> counters;
};

inline Target project(Device& device, const LossShape& s, const TargetInputs& in) {
  const TestBuffer<float> next_q(device, in.next_q), next_logits(device, in.next_logits), returns(device, in.returns),
      discounts(device, in.discounts), priorities(device, in.priorities), isv(device, in.isv);
  TestBuffer<std::uint32_t> counters(device, in.counters);
  TestBuffer<float> target(device, s.rows() * static_cast<std::size_t>(s.atoms)), mean(device, s.rows()),
      weight(device, s.rows());
  launch_guarded(device, project_target_kernel, next_q, next_logits, returns, discounts, priorities, isv, counters,
                 target, mean, weight, s.batch, s.actions, s.atoms, s.v_min, s.v_max);
  REQUIRE(target.unwritten() + mean.unwritten() + weight.unwritten() == 0);
  return {target.download(), mean.download(), weight.download(), counters.download()};
}

struct Loss {
  std::vector<float> loss, d_logits;
};

inline Loss c51(Device& device, const LossShape& s, const std::vector<float>& logits,
                const std::vector<std::int32_t>& action, const std::vector<float>& target,
                const std::vector<float>& weight) {
  const TestBuffer<float> l(device, logits), t(device, target), w(device, weight);
  const TestBuffer<std::int32_t> a(device, action);
  TestBuffer<float> loss(device, s.rows()), d_logits(device, s.logits());
  launch_guarded(device, c51_loss_kernel, l, a, t, w, loss, d_logits, s.batch, s.actions, s.atoms);
  REQUIRE(loss.unwritten() + d_logits.unwritten() == 0);
  return {loss.download(), d_logits.download()};
}

inline Loss mse(Device& device, const LossShape& s, const std::vector<float>& logits, const std::vector<float>& q,
                const std::vector<std::int32_t>& action, const std::vector<float>& target_mean,
                const std::vector<float>& weight) {
  const TestBuffer<float> l(device, logits), values(device, q), t(device, target_mean), w(device, weight);
  const TestBuffer<std::int32_t> a(device, action);
  TestBuffer<float> loss(device, s.rows()), d_logits(device, s.logits());
  launch_guarded(device, mse_loss_kernel, l, values, a, t, w, loss, d_logits, s.batch, s.actions, s.atoms, s.v_min,
                 s.v_max);
  REQUIRE(loss.unwritten() + d_logits.unwritten() == 0);
  return {loss.download(), d_logits.download()};
}

/// Adds the conservative term to `before`, an earlier gradient.
inline Loss cql(Device& device, const LossShape& s, const std::vector<float>& logits, const std::vector<float>& q,
                const std::vector<std::int32_t>& action, const std::vector<float>& weight, float cql_weight,
                const std::vector<float>& before) {
  const TestBuffer<float> l(device, logits), values(device, q), w(device, weight),
      isv(device, isv_with({{isv_cql_weight, cql_weight}}));
  const TestBuffer<std::int32_t> a(device, action);
  TestBuffer<float> loss(device, s.rows()), d_logits(device, before);
  launch_guarded(device, cql_loss_kernel, l, values, a, w, isv, loss, d_logits, s.batch, s.actions, s.atoms, s.v_min,
                 s.v_max);
  REQUIRE(loss.unwritten() == 0);
  return {loss.download(), d_logits.download()};
}

/// raw [batch, (actions + 1) * atoms] through the dueling streams.
struct Streams {
  std::vector<float> logits, q;
};
inline Streams dueling(Device& device, const LossShape& s, const std::vector<float>& raw) {
  const TestBuffer<float> input(device, raw);
  TestBuffer<float> logits(device, s.logits()), q(device, s.values());
  launch_guarded(device, dueling_forward_kernel, input, logits, q, s.batch, s.actions, s.atoms,
                 (s.actions + 1) * s.atoms, s.v_min, s.v_max);
  return {logits.download(), q.download()};
}
inline std::vector<float> dueling_backward(Device& device, const LossShape& s, const std::vector<float>& d_logits) {
  const int width = (s.actions + 1) * s.atoms;
  const TestBuffer<float> slope(device, d_logits);
  TestBuffer<float> d_raw(device, s.rows() * static_cast<std::size_t>(width));
  launch_guarded(device, dueling_backward_kernel, slope, d_raw, s.batch, s.actions, s.atoms, width);
  return d_raw.download();
}

/// Several inputs as the rows of one batch, each with the same action, target and so on.
inline std::vector<float> stacked(const std::vector<std::vector<float>>& inputs) {
  std::vector<float> rows;
  for (const std::vector<float>& input : inputs) rows.insert(rows.end(), input.begin(), input.end());
  return rows;
}
template <class T>
std::vector<T> repeated(const std::vector<T>& row, std::size_t times) {
  std::vector<T> rows;
  for (std::size_t i = 0; i < times; ++i) rows.insert(rows.end(), row.begin(), row.end());
  return rows;
}

/// A distribution of random masses that sum to one.
inline std::vector<float> random_distribution(Random& random, int atoms) {
  std::vector<float> p = random.floats(static_cast<std::size_t>(atoms), 0.05f, 1.0f);
  const auto total = static_cast<float>(sum(p));
  for (float& v : p) v /= total;
  return p;
}

}  // namespace foxhunt::test
