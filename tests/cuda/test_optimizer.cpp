#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

struct Layer {
  int inputs, outputs;
};

/// Layers one after the other, `gap` floats of padding between them.
LayerTable table_of(const std::vector<Layer>& layers, int gap = 0) {
  LayerTable table{};
  int offset = 0;
  for (const Layer& layer : layers) {
    table.offset[table.layers] = offset;
    table.inputs[table.layers] = layer.inputs;
    table.outputs[table.layers++] = layer.outputs;
    offset += (layer.inputs + 1) * layer.outputs + gap;
  }
  return table;
}

/// Parameters of one optimiser step and what they become.
struct Optimiser {
  explicit Optimiser(std::size_t n) : parameters(n, 1.0f), moment1(n, 0.0f), moment2(n, 0.0f), gradient(n, 0.0f) {}

  std::vector<float> parameters, moment1, moment2, gradient, norm;
  std::vector<float> isv = isv_with({{isv_learning_rate, 0.125f}, {isv_gradient_norm, -1.0f}});
  std::vector<std::uint32_t> counters = counters_with({});
  LayerTable layers = table_of({});
  AdamParams params = {0.9f, 0.999f, 1e-8f, 0.0f, 0.0f};

  /// Both kernels, one after the other, as an iteration runs them.
  void step(Device& device) {
    const int n = static_cast<int>(parameters.size());
    TestBuffer<float> p(device, parameters), m(device, moment1), v(device, moment2), bus(device, isv),
        norms(device, (parameters.size() + 1023) / 1024);
    const TestBuffer<float> g(device, gradient);
    TestBuffer<std::uint32_t> count(device, counters);
    launch_guarded(device, gradient_norm_kernel, g, p, m, v, bus, norms, count, n);
    REQUIRE(norms.unwritten() == 0);
    launch_guarded(device, adamw_kernel, p, m, v, g, norms, count, bus, n, layers, params);
    parameters = p.download(), moment1 = m.download(), moment2 = v.download();
    isv = bus.download(), counters = count.download(), norm = norms.download();
  }
};

std::vector<float> updated_target(Device& device, const std::vector<float>& target, const std::vector<float>& online,
                                  float tau, int period, const std::vector<std::uint32_t>& counters) {
  TestBuffer<float> to(device, target);
  const TestBuffer<float> from(device, online);
  const TestBuffer<std::uint32_t> count(device, counters);
  launch_guarded(device, update_target_kernel, to, from, count, static_cast<int>(target.size()), tau, period);
  return to.download();
}

}  // namespace

TEST_CASE("kernel_optimizer: the norm is summed by runs of 1,024 and reported") {
  ON_EVERY_DEVICE(device);
  for (const auto& [n, runs] :
       {std::pair{1, std::vector<float>{4.0f}}, std::pair{1023, std::vector<float>{4092.0f}},
        std::pair{1024, std::vector<float>{4096.0f}}, std::pair{1025, std::vector<float>{4096.0f, 4.0f}},
        std::pair{2500, std::vector<float>{4096.0f, 4096.0f, 1808.0f}}}) {
    Optimiser state(static_cast<std::size_t>(n));
    state.gradient.assign(static_cast<std::size_t>(n), -2.0f);
    state.step(device);
    CAPTURE(n);
    REQUIRE(state.norm == runs);
    REQUIRE(std::fabs(state.isv[isv_gradient_norm] - 2.0f * std::sqrt(static_cast<float>(n))) < 1e-4f * n);
    REQUIRE(state.counters == counters_with({}));
  }
  Optimiser right(2);
  right.gradient = {3.0f, 4.0f};
  right.step(device);
  REQUIRE(right.isv[isv_gradient_norm] == 5.0f);
}

TEST_CASE("kernel_optimizer: the first step moves every parameter by the learning rate against its gradient") {
  ON_EVERY_DEVICE(device);
  Random random(140);
  for (const std::size_t n : {1u, 1009u, 300007u}) {
    Optimiser state(n);
    for (float& g : state.gradient) g = (random.integer(0, 1) ? 1.0f : -1.0f) * std::exp(random.uniform(-7.0f, 7.0f));
    const std::vector<float> before = state.parameters = random.floats(n, -1.0f, 1.0f);
    state.step(device);
    Largest gap;
    for (std::size_t i = 0; i < n; ++i)
      gap.note(std::fabs(state.parameters[i] - (before[i] - (state.gradient[i] > 0.0f ? 0.125f : -0.125f))));
    REQUIRE(gap.value() < 1e-5);
  }
}

TEST_CASE("kernel_optimizer: under a constant gradient every step is the learning rate, as the bias is corrected") {
  ON_EVERY_DEVICE(device);
  Optimiser state(3);
  state.gradient = {0.01f, -5.0f, 300.0f};
  for (std::uint32_t step = 1; step <= 30; ++step) {
    state.counters[counter_updates] = step - 1;
    state.step(device);
    const float moved = 0.125f * static_cast<float>(step);
    REQUIRE(largest_difference(state.parameters, {1.0f - moved, 1.0f + moved, 1.0f - moved}) < 1e-3 * step);
  }
}

TEST_CASE("kernel_optimizer: moments are running means of the gradient and of its square") {
  ON_EVERY_DEVICE(device);
  Optimiser state(2);
  state.params.beta1 = 0.5f;
  state.params.beta2 = 0.75f;
  state.gradient = {4.0f, -2.0f};
  state.step(device);
  REQUIRE(state.moment1 == std::vector<float>{2.0f, -1.0f});
  REQUIRE(state.moment2 == std::vector<float>{4.0f, 1.0f});
  state.gradient = {0.0f, 2.0f};
  state.step(device);
  REQUIRE(state.moment1 == std::vector<float>{1.0f, 0.5f});
  REQUIRE(state.moment2 == std::vector<float>{3.0f, 1.75f});
}

TEST_CASE("kernel_optimizer: the clip bounds the gradient's length and leaves shorter ones") {
  ON_EVERY_DEVICE(device);
  Random random(141);
  for (const std::size_t n : {2u, 5003u}) {
    Optimiser state(n);
    state.params.beta1 = 0.5f;
    state.params.max_grad_norm = 10.0f;
    state.gradient = random.floats(n, -100.0f, 100.0f);
    state.gradient[0] = 1000.0f;
    state.step(device);
    const double length = std::sqrt(dot(state.gradient, state.gradient));
    // From a zero first moment, half of what was let through.
    REQUIRE(std::fabs(2.0 * std::sqrt(dot(state.moment1, state.moment1)) - 10.0) < 1e-3);
    REQUIRE(std::fabs(state.moment1[0] - 0.5 * 1000.0 * 10.0 / length) < 1e-3);
    REQUIRE(std::fabs(state.isv[isv_gradient_norm] - length) < 1e-4 * length);  // as it was before

    Optimiser short_enough(n);
    short_enough.params = state.params;
    short_enough.gradient.assign(n, 9.9f / std::sqrt(static_cast<float>(n)));
    short_enough.step(device);
    REQUIRE(largest_difference(short_enough.moment1, std::vector<float>(n, 0.5f * short_enough.gradient[0])) <
            1e-7 * short_enough.gradient[0]);
  }
}

TEST_CASE("kernel_optimizer: weight decay shrinks weights and no biases") {
  ON_EVERY_DEVICE(device);
  Random random(142);
  const std::vector<Layer> shapes = {{3, 5}, {1, 1}, {7, 2}};
  Optimiser state(100);
  state.layers = table_of(shapes, 3);
  state.params.weight_decay = 0.5f;
  const std::vector<float> before = state.parameters = random.floats(100, 1.0f, 2.0f);
  state.step(device);
  for (std::size_t l = 0; l < shapes.size(); ++l)
    for (int i = 0; i < (shapes[l].inputs + 1) * shapes[l].outputs; ++i) {
      const auto at = static_cast<std::size_t>(state.layers.offset[l] + i);
      CAPTURE(l, i);
      if (i >= shapes[l].inputs * shapes[l].outputs)
        REQUIRE(state.parameters[at] == before[at]);
      else
        REQUIRE(std::fabs(state.parameters[at] - before[at] * (1.0f - 0.125f * 0.5f)) < 1e-6f);
    }
}

TEST_CASE("kernel_optimizer: no gradient and no decay is a fixed point") {
  ON_EVERY_DEVICE(device);
  Random random(143);
  Optimiser state(3001);
  const std::vector<float> before = state.parameters = random.floats(3001, -5.0f, 5.0f);
  for (int i = 0; i < 5; ++i) state.step(device);
  REQUIRE(same_bits(state.parameters, before));
  REQUIRE(state.isv[isv_gradient_norm] == 0.0f);
}

TEST_CASE("kernel_optimizer: steps along its own gradient bring a parabola to its floor") {
  ON_EVERY_DEVICE(device);
  Random random(144);
  Optimiser state(17);
  const std::vector<float> floor = random.floats(17, -1.0f, 1.0f);
  state.isv[isv_learning_rate] = 0.05f;
  for (std::uint32_t step = 0; step < 400; ++step) {
    for (std::size_t i = 0; i < 17; ++i) state.gradient[i] = state.parameters[i] - floor[i];
    state.counters[counter_updates] = step;
    if (step == 300) state.isv[isv_learning_rate] = 0.002f;
    state.step(device);
  }
  REQUIRE(largest_difference(state.parameters, floor) < 5e-3);
}

TEST_CASE("kernel_optimizer: the learning rate is read from the bus") {
  ON_EVERY_DEVICE(device);
  for (const float rate : {0.0f, 0.25f}) {
    Optimiser state(1);
    state.gradient = {2.0f};
    state.isv[isv_learning_rate] = rate;
    state.step(device);
    REQUIRE(std::fabs(state.parameters[0] - (1.0f - rate)) < 1e-6f);
  }
}

TEST_CASE("kernel_optimizer: a refused update leaves every bit") {
  ON_EVERY_DEVICE(device);
  Random random(145);
  for (const auto& [learning, nonfinite] : {std::pair{0u, 0u}, std::pair{1u, 1u}, std::pair{0u, 5u}}) {
    Optimiser state(2003);
    state.counters[counter_learning] = learning;
    state.counters[counter_nonfinite] = nonfinite;
    state.gradient = random.floats(2003, -1.0f, 1.0f);
    state.params.weight_decay = 0.1f;
    const Optimiser before = state;
    state.step(device);
    REQUIRE(same_bits(state.parameters, before.parameters));
    REQUIRE(same_bits(state.moment1, before.moment1));
    REQUIRE(same_bits(state.moment2, before.moment2));
    REQUIRE(same_bits(state.isv, before.isv));
    REQUIRE(state.counters == before.counters);
  }
}

TEST_CASE("kernel_optimizer: whatever is not finite is counted by kind and stops the update") {
  ON_EVERY_DEVICE(device);
  Random random(146);
  const auto refused = [&](NonfiniteIn where, auto change) {
    Optimiser state(3000);
    state.gradient = random.floats(3000, -1.0f, 1.0f);
    change(state);
    const Optimiser before = state;
    state.step(device);
    CAPTURE(where, state.counters[counter_nonfinite_mask]);
    REQUIRE(state.counters[counter_nonfinite_mask] == where);
    REQUIRE(state.counters[counter_nonfinite] == 1);
    REQUIRE(same_bits(state.parameters, before.parameters));
    REQUIRE(same_bits(state.moment1, before.moment1));
    REQUIRE(same_bits(state.moment2, before.moment2));
  };
  for (const float bad : {NAN, INFINITY, -INFINITY})
    for (const std::size_t at : {0u, 1023u, 1024u, 2999u}) {
      refused(nonfinite_gradient, [&](Optimiser& s) { s.gradient[at] = bad; });
      refused(nonfinite_parameter, [&](Optimiser& s) { s.parameters[at] = bad; });
      refused(nonfinite_moment, [&](Optimiser& s) { s.moment1[at] = bad; });
      refused(nonfinite_moment, [&](Optimiser& s) { s.moment2[at] = bad; });
      refused(nonfinite_learning_rate, [&](Optimiser& s) { s.isv[isv_learning_rate] = bad; });
    }
  refused(nonfinite_gradient, [](Optimiser& s) { s.gradient[7] = 1e30f; });  // its square overflows
  // Its square is finite, but the sum over the three runs need not be.
  refused(nonfinite_gradient, [](Optimiser& s) { s.gradient[0] = 1.5e19f; });
}

TEST_CASE("kernel_optimizer: a gradient that was never computed is not held against an iteration without learning") {
  ON_EVERY_DEVICE(device);
  Optimiser state(10);
  state.gradient[3] = NAN;
  state.counters[counter_learning] = 0;
  state.step(device);
  REQUIRE(state.counters[counter_nonfinite] == 0);
}

TEST_CASE("kernel_optimizer: a polyak target closes the same share of the gap every update") {
  ON_EVERY_DEVICE(device);
  Random random(147);
  for (const std::size_t n : {1u, 3001u, 300007u}) {
    const std::vector<float> online = random.floats(n, -2.0f, 2.0f), start = random.floats(n, -2.0f, 2.0f);
    std::vector<float> target = start;
    const auto updates = n > 100000 ? 3 : 40;
    for (int i = 0; i < updates; ++i) target = updated_target(device, target, online, 0.25f, 0, counters_with({}));
    Largest gap;
    for (std::size_t i = 0; i < n; ++i)
      gap.note(std::fabs((target[i] - online[i]) - std::pow(0.75, updates) * (start[i] - online[i])));
    REQUIRE(gap.value() < 1e-5);
  }
}

TEST_CASE("kernel_optimizer: a target that equals the online network stays, tau of one copies it, of zero keeps it") {
  ON_EVERY_DEVICE(device);
  Random random(148);
  const std::vector<float> online = random.floats(5000, -2.0f, 2.0f), other = random.floats(5000, -2.0f, 2.0f);
  REQUIRE(same_bits(updated_target(device, online, online, 0.3f, 0, counters_with({})), online));
  REQUIRE(same_bits(updated_target(device, other, online, 1.0f, 0, counters_with({})), online));
  REQUIRE(same_bits(updated_target(device, {1e8f, -1e30f}, {0.0f, 1.0f}, 1.0f, 0, counters_with({})), {0.0f, 1.0f}));
  REQUIRE(same_bits(updated_target(device, other, online, 0.0f, 0, counters_with({})), other));
}

TEST_CASE("kernel_optimizer: a hard target is copied after its own number of updates, bit for bit") {
  ON_EVERY_DEVICE(device);
  Random random(149);
  const std::vector<float> online = random.floats(777, -2.0f, 2.0f), start = random.floats(777, -2.0f, 2.0f);
  for (const int period : {1, 3, 4}) {
    for (std::uint32_t updates = 0; updates < 13; ++updates) {
      // Iterations run ahead of updates: they must not be what is counted.
      const auto counters = counters_with({{counter_updates, updates}, {counter_iteration, 3 * updates + 7}});
      const bool due = (updates + 1) % static_cast<std::uint32_t>(period) == 0;
      CAPTURE(period, updates);
      REQUIRE(same_bits(updated_target(device, start, online, 0.5f, period, counters), due ? online : start));
    }
  }
}

TEST_CASE("kernel_optimizer: the target is kept when the update was refused") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> online(100, 1.0f), start(100, -1.0f);
  for (const int period : {0, 1})
    for (const auto& counters : {counters_with({{counter_learning, 0}}), counters_with({{counter_nonfinite, 1}})})
      REQUIRE(same_bits(updated_target(device, start, online, 1.0f, period, counters), start));
}

TEST_CASE("kernel_optimizer: epsilon is added to the root of the second moment") {
  ON_EVERY_DEVICE(device);
  Optimiser state(1);
  state.gradient = {2.0f};
  state.params.epsilon = 2.0f;
  state.step(device);
  REQUIRE(std::fabs(state.parameters[0] - (1.0f - 0.125f * 0.5f)) < 1e-5f);  // 2 / (2 + 2) of the rate
}

TEST_CASE("kernel_optimizer: a clip below one clips") {
  ON_EVERY_DEVICE(device);
  Optimiser state(2);
  state.gradient = {3.0f, -4.0f};
  state.params = {0.0f, 0.0f, 0.0f, 0.0f, 0.5f};
  state.step(device);
  REQUIRE(largest_difference(state.moment1, {0.3f, -0.4f}) < 1e-6);
}

TEST_CASE("kernel_optimizer: a learning rate that is not finite is noticed with few parameters as with many") {
  ON_EVERY_DEVICE(device);
  for (const std::size_t n : {1u, 1024u, 3000u}) {
    Optimiser state(n);
    state.isv[isv_learning_rate] = NAN;
    state.step(device);
    REQUIRE(state.counters[counter_nonfinite] == 1);
    REQUIRE(state.counters[counter_nonfinite_mask] == nonfinite_learning_rate);
  }
}

TEST_CASE("kernel_optimizer: padding after a full table of layers decays like a weight") {
  ON_EVERY_DEVICE(device);
  Optimiser state(max_layers * 4 + 3);
  state.layers = table_of(std::vector<Layer>(max_layers, {1, 2}));
  state.params.weight_decay = 0.5f;
  state.step(device);
  for (std::size_t i = 0; i < state.parameters.size(); ++i) {
    const bool bias = i < max_layers * 4 && i % 4 >= 2;
    REQUIRE(state.parameters[i] == (bias ? 1.0f : 1.0f - 0.125f * 0.5f));
  }
}

TEST_CASE("kernel_optimizer: a tau of one copies, whatever the target was, and nothing beyond the end") {
  ON_EVERY_DEVICE(device);
  REQUIRE(updated_target(device, {1e30f, NAN}, {1.0f, 2.0f}, 1.0f, 0, counters_with({})) ==
          std::vector<float>{1.0f, 2.0f});
  TestBuffer<float> target(device, 4);
  const TestBuffer<float> online(device, std::vector<float>(4, 1.0f));
  const TestBuffer<std::uint32_t> counters(device, counters_with({}));
  launch_guarded(device, update_target_kernel, target, online, counters, 3, 1.0f, 0);
  REQUIRE(target.unwritten() == 1);
}

TEST_CASE("kernel_optimizer: the largest values that are allowed are allowed") {
  ON_EVERY_DEVICE(device);
  Optimiser state(3);
  state.parameters = {1e15f, -1e15f, 1.0f};
  state.moment1 = {2e19f, -2e19f, 0.0f};
  state.moment2 = {3.402823466e38f, 0.0f, 1.0f};
  state.step(device);
  REQUIRE(state.counters[counter_nonfinite] == 0);
}
