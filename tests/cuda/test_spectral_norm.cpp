// Matrices with known singular values: a diagonal between two random reflections.
#include "tests/cuda/finite_differences.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

struct Layer {
  int inputs, outputs;
  bool spectral = true;
  std::vector<float> weights = {};  ///< [inputs, outputs]
};

/// [inputs, outputs] with these singular values: reflect(rows) diag reflect(columns).
std::vector<float> with_spectrum(Random& random, int inputs, int outputs, const std::vector<double>& values) {
  const auto unit = [&](int n) {
    std::vector<double> v(static_cast<std::size_t>(n));
    double squares = 0.0;
    for (double& x : v) x = random.uniform(-1.0f, 1.0f), squares += x * x;
    for (double& x : v) x /= std::sqrt(squares);
    return v;
  };
  const std::vector<double> a = unit(inputs), b = unit(outputs);
  const auto reflection = [](const std::vector<double>& v, std::size_t i, std::size_t j) {
    return (i == j ? 1.0 : 0.0) - 2.0 * v[i] * v[j];
  };
  std::vector<float> w;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < values.size(); ++k) sum += reflection(a, i, k) * values[k] * reflection(b, k, j);
      w.push_back(static_cast<float>(sum));
    }
  return w;
}

/// A network's spectral state: parameters, singular vectors and values.
struct Spectral {
  LayerTable table{};
  int n = 0, stride = 0;
  float epsilon = 1e-4f;
  std::vector<float> parameters, left, right;
  std::uint32_t nonfinite = 0;  ///< met in this iteration

  Spectral(Random& random, const std::vector<Layer>& layers) {
    for (const Layer& layer : layers) {
      const int l = table.layers++;
      table.offset[l] = n;
      table.inputs[l] = layer.inputs;
      table.outputs[l] = layer.outputs;
      table.spectral[l] = layer.spectral;
      parameters.insert(parameters.end(), layer.weights.begin(), layer.weights.end());
      for (int i = 0; i < layer.outputs; ++i) parameters.push_back(random.uniform(-9.0f, 9.0f));
      n = static_cast<int>(parameters.size());
      stride = std::max({stride, layer.inputs, layer.outputs});
    }
    const auto vectors = static_cast<std::size_t>(table.layers * stride);
    left = random.floats(vectors, 0.1f, 1.0f);
    for (float& v : left) v *= random.integer(0, 1) ? 1.0f : -1.0f;
    right = random.floats(vectors, 0.1f, 1.0f);
  }

  /// Iterates and keeps the vectors; returns sigma by layer.
  std::vector<float> iterate(Device& device, int iterations) {
    const TestBuffer<float> p(device, parameters);
    const TestBuffer<std::uint32_t> counters(device, counters_with({{counter_nonfinite, nonfinite}}));
    TestBuffer<float> u(device, left), v(device, right), sigma(device, static_cast<std::size_t>(table.layers));
    launch_guarded(device, spectral_sigma_kernel, p, counters, u, v, sigma, n, table.layers, stride, iterations,
                   epsilon, table);
    REQUIRE(sigma.unwritten() == (nonfinite ? sigma.size() : 0));
    left = u.download(), right = v.download();
    return sigma.download();
  }

  std::vector<float> effective(Device& device, const std::vector<float>& sigma) const {
    const TestBuffer<float> p(device, parameters), s(device, sigma);
    const TestBuffer<std::uint32_t> counters(device, counters_with({{counter_nonfinite, nonfinite}}));
    TestBuffer<float> result(device, parameters.size());
    launch_guarded(device, spectral_apply_kernel, p, s, counters, result, n, table.layers, table);
    REQUIRE(result.unwritten() == (nonfinite ? result.size() : 0));
    return result.download();
  }

  std::vector<float> backward(Device& device, const std::vector<float>& gradient, const std::vector<float>& weights,
                              const std::vector<float>& sigma) const {
    TestBuffer<float> g(device, gradient);
    const TestBuffer<float> w(device, weights), u(device, left), v(device, right), s(device, sigma);
    launch_guarded(device, spectral_backward_kernel, g, w, u, v, s, n, table.layers, stride, epsilon, table);
    return g.download();
  }

  bool is_bias(int i) const {
    for (int l = 0; l < table.layers; ++l) {
      const int inside = i - table.offset[l];
      if (inside >= table.inputs[l] * table.outputs[l] && inside < (table.inputs[l] + 1) * table.outputs[l])
        return true;
    }
    return false;
  }
};

std::vector<Layer> known_layers(Random& random) {
  return {{5, 5, true, with_spectrum(random, 5, 5, {3.0, 1.0, 0.5, 0.25, 0.1})},
          {40, 70, true, with_spectrum(random, 40, 70, {0.5, 0.3, 0.2})},
          {100, 33, true, with_spectrum(random, 100, 33, {20.0})},  // rank one
          {1, 9, true, with_spectrum(random, 1, 9, {7.0})},
          {64, 1, true, with_spectrum(random, 64, 1, {0.125})}};
}

}  // namespace

TEST_CASE("kernel_spectral_norm: sigma is the largest singular value") {
  ON_EVERY_DEVICE(device);
  Random random(150);
  Spectral network(random, known_layers(random));
  const std::vector<float> expected = {3.0f, 0.5f, 20.0f, 7.0f, 0.125f};
  const std::vector<float> sigma = network.iterate(device, 30);
  for (std::size_t l = 0; l < expected.size(); ++l) {
    CAPTURE(l, sigma[l]);
    REQUIRE(std::fabs(sigma[l] - expected[l]) < 0.01f * expected[l]);
  }
}

TEST_CASE("kernel_spectral_norm: a diagonal's sigma is its largest entry, an isometry's is one") {
  ON_EVERY_DEVICE(device);
  Random random(151);
  std::vector<float> diagonal(81, 0.0f);
  for (std::size_t i = 0; i < 9; ++i) diagonal[i * 10] = i == 4 ? -6.0f : 0.3f * static_cast<float>(i);
  Spectral network(
      random, {{9, 9, true, diagonal}, {20, 20, true, with_spectrum(random, 20, 20, std::vector<double>(20, 1.0))}});
  const std::vector<float> sigma = network.iterate(device, 30);
  REQUIRE(std::fabs(sigma[0] - 6.0f) < 1e-3f);
  REQUIRE(std::fabs(sigma[1] - 1.0f) < 1e-4f);
}

TEST_CASE("kernel_spectral_norm: one iteration an update gets there as well, and never past it") {
  ON_EVERY_DEVICE(device);
  Random random(152);
  Spectral network(random, {{40, 70, true, with_spectrum(random, 40, 70, {0.5, 0.4, 0.3})}});
  float before = 0.0f;
  for (int update = 0; update < 40; ++update) {
    const float sigma = network.iterate(device, 1)[0];
    REQUIRE(sigma >= before - 1e-6f);  // the iteration is monotone
    REQUIRE(sigma <= 0.5f + 1e-5f);
    before = sigma;
  }
  REQUIRE(before > 0.495f);
}

TEST_CASE("kernel_spectral_norm: the vectors have length one and belong to sigma") {
  ON_EVERY_DEVICE(device);
  Random random(153);
  Spectral network(random, known_layers(random));
  const std::vector<float> sigma = network.iterate(device, 60);
  for (int l = 0; l < network.table.layers; ++l) {
    const int inputs = network.table.inputs[l], outputs = network.table.outputs[l];
    const auto u = network.left.begin() + l * network.stride, v = network.right.begin() + l * network.stride;
    const std::vector<float> us(u, u + outputs), vs(v, v + inputs);
    REQUIRE(std::fabs(dot(us, us) - 1.0) < 1e-4);
    REQUIRE(std::fabs(dot(vs, vs) - 1.0) < 1e-4);
    double through = 0.0;  // v W u
    for (int i = 0; i < inputs; ++i)
      for (int j = 0; j < outputs; ++j)
        through += static_cast<double>(vs[static_cast<std::size_t>(i)]) *
                   network.parameters[static_cast<std::size_t>(network.table.offset[l] + i * outputs + j)] *
                   us[static_cast<std::size_t>(j)];
    REQUIRE(std::fabs(through - sigma[static_cast<std::size_t>(l)]) < 1e-3 * sigma[static_cast<std::size_t>(l)]);
  }
}

TEST_CASE("kernel_spectral_norm: effective weights have a sigma of one, biases are as they were") {
  ON_EVERY_DEVICE(device);
  Random random(154);
  std::vector<Layer> layers = known_layers(random);
  layers[1].spectral = false;
  Spectral network(random, layers);
  const std::vector<float> sigma = network.iterate(device, 40);
  REQUIRE(sigma[1] == 1.0f);
  Spectral again = network;
  again.parameters = network.effective(device, sigma);
  for (int i = 0; i < network.n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int second = network.table.offset[1];
    const bool kept = network.is_bias(i) || (i >= second && i < second + 40 * 70);
    if (kept ? !(again.parameters[at] == network.parameters[at]) : !std::isfinite(again.parameters[at]))
      FAIL("parameter " << i);
  }
  const std::vector<float> one = again.iterate(device, 40);
  REQUIRE(largest_difference(one, std::vector<float>(5, 1.0f)) < 1e-3);
}

TEST_CASE("kernel_spectral_norm: weights of zero stay finite at the floor, and can grow again") {
  ON_EVERY_DEVICE(device);
  Random random(155);
  const std::vector<float> zeros(12 * 7, 0.0f);
  Spectral network(random, {{12, 7, true, zeros}});
  for (int update = 0; update < 3; ++update) {
    const std::vector<float> sigma = network.iterate(device, 1);
    REQUIRE(sigma[0] == network.epsilon);
    REQUIRE(all_finite(network.effective(device, sigma)));
    REQUIRE(all_finite(network.left));
    REQUIRE(all_finite(network.right));
  }
  const std::vector<float> grown = with_spectrum(random, 12, 7, {2.0, 0.5});
  std::copy(grown.begin(), grown.end(), network.parameters.begin());
  REQUIRE(std::fabs(network.iterate(device, 30)[0] - 2.0f) < 0.02f);
}

TEST_CASE("kernel_spectral_norm: tiny weights are divided by the floor") {
  ON_EVERY_DEVICE(device);
  Random random(156);
  for (const double size : {1e-6, 1e-15, 1e-30}) {
    Spectral network(random, {{8, 8, true, with_spectrum(random, 8, 8, {size, 0.5 * size})}});
    const std::vector<float> sigma = network.iterate(device, 5);
    CAPTURE(size);
    REQUIRE(sigma[0] == network.epsilon);
    REQUIRE(network.effective(device, sigma)[0] == network.parameters[0] / network.epsilon);
  }
}

TEST_CASE("kernel_spectral_norm: a NaN among the weights is seen in sigma") {
  ON_EVERY_DEVICE(device);
  Random random(157);
  Spectral network(random, {{6, 6, true, with_spectrum(random, 6, 6, {2.0, 1.0})}});
  network.parameters[17] = NAN;
  REQUIRE(std::isnan(network.iterate(device, 3)[0]));
}

TEST_CASE("kernel_spectral_norm: an iteration that met a non-finite value changes nothing") {
  ON_EVERY_DEVICE(device);
  Random random(161);
  Spectral network(random, known_layers(random));
  network.nonfinite = 1;
  const Spectral before = network;
  network.iterate(device, 3);
  REQUIRE(same_bits(network.left, before.left));
  REQUIRE(same_bits(network.right, before.right));
  network.effective(device, std::vector<float>(5, 2.0f));
}

TEST_CASE("kernel_spectral_norm: the gradient is the slope of the loss of the effective weights", "[long]") {
  ON_EVERY_DEVICE(device);
  Random random(158);
  Spectral network(random, {{6, 4, true, with_spectrum(random, 6, 4, {2.0, 0.7, 0.3, 0.1})},
                            {3, 5, false, random.floats(15, -1.0f, 1.0f)},
                            {4, 3, true, with_spectrum(random, 4, 3, {0.6, 0.2})}});
  const std::vector<float> slope = random.floats(network.parameters.size(), -1.0f, 1.0f);
  const std::vector<float> sigma = network.iterate(device, 200);
  const std::vector<float> gradient = network.backward(device, slope, network.effective(device, sigma), sigma);
  require_gradient(network.parameters, gradient, [&](const auto& inputs) {
    std::vector<double> losses;
    for (const std::vector<float>& input : inputs) {
      Spectral moved = network;
      moved.parameters = input;
      losses.push_back(dot(slope, moved.effective(device, moved.iterate(device, 60))));
    }
    return losses;
  });
}

TEST_CASE("kernel_spectral_norm: scaling the weights changes nothing, so their gradient is orthogonal to them") {
  ON_EVERY_DEVICE(device);
  Random random(159);
  Spectral network(random, {{130, 70, true, with_spectrum(random, 130, 70, {3.0, 1.0, 0.5})}});
  const std::vector<float> sigma = network.iterate(device, 60);
  std::vector<float> slope = random.floats(network.parameters.size(), -1.0f, 1.0f), weights = network.parameters;
  const std::vector<float> gradient = network.backward(device, slope, network.effective(device, sigma), sigma);
  std::fill(weights.begin() + 130 * 70, weights.end(), 0.0f);
  REQUIRE(std::fabs(dot(gradient, weights)) < 1e-4 * std::sqrt(dot(gradient, gradient) * dot(weights, weights)));
  REQUIRE(same_bits(std::vector<float>(gradient.begin() + 130 * 70, gradient.end()),
                    std::vector<float>(slope.begin() + 130 * 70, slope.end())));
}

TEST_CASE("kernel_spectral_norm: at the floor sigma is a constant") {
  ON_EVERY_DEVICE(device);
  Random random(160);
  Spectral network(random, {{5, 6, true, std::vector<float>(30, 0.0f)}});
  network.parameters[3] = 1e-7f;
  network.epsilon = 0.5f;
  const std::vector<float> sigma = network.iterate(device, 3);
  const std::vector<float> slope = random.floats(network.parameters.size(), -1.0f, 1.0f);
  const std::vector<float> gradient = network.backward(device, slope, network.effective(device, sigma), sigma);
  for (std::size_t i = 0; i < 30; ++i) REQUIRE(gradient[i] == slope[i] / 0.5f);
}

TEST_CASE("kernel_spectral_norm: as many iterations as asked for, and a vector that is there stays there") {
  ON_EVERY_DEVICE(device);
  Random random(162);
  Spectral twice(random, {{9, 7, true, with_spectrum(random, 9, 7, {2.0, 1.9, 1.8})}});
  Spectral once = twice;
  once.iterate(device, 1);
  const std::vector<float> before = once.left;
  once.iterate(device, 1);
  twice.iterate(device, 2);
  REQUIRE(same_bits(once.left, twice.left));
  REQUIRE(same_bits(once.right, twice.right));
  REQUIRE(dot(once.left, before) > 0.5);  // it turns towards the leading pair, it does not flip
}

TEST_CASE("kernel_spectral_norm: weights of zero leave a vector of length one") {
  ON_EVERY_DEVICE(device);
  Random random(163);
  Spectral network(random, {{12, 7, true, std::vector<float>(12 * 7, 0.0f)}});
  network.iterate(device, 1);
  const std::vector<float> u(network.left.begin(), network.left.begin() + 7);
  REQUIRE(std::fabs(dot(u, u) - 1.0) < 1e-5);
}

TEST_CASE("kernel_spectral_norm: layers beyond the parameters or the count are left alone, padding is copied") {
  ON_EVERY_DEVICE(device);
  Random random(164);
  Spectral network(random, {{4, 3, true, with_spectrum(random, 4, 3, {4.0, 1.0})},
                            {3, 3, true, with_spectrum(random, 3, 3, {2.0, 1.0})}});
  network.iterate(device, 30);
  Spectral shorter = network;
  shorter.n = network.table.offset[1];
  shorter.parameters.resize(static_cast<std::size_t>(shorter.n));
  const std::vector<float> sigma = shorter.iterate(device, 1);
  REQUIRE(std::fabs(sigma[0] - 4.0f) < 0.01f);
  REQUIRE(sigma[1] == 1.0f);
  std::vector<float> slope = random.floats(shorter.parameters.size(), 1.0f, 2.0f);
  REQUIRE(std::fabs(dot(shorter.backward(device, slope, shorter.effective(device, sigma), sigma), shorter.parameters) -
                    dot(std::vector<float>(slope.end() - 3, slope.end()),
                        std::vector<float>(shorter.parameters.end() - 3, shorter.parameters.end()))) < 1e-3);

  // Five floats of padding between the layers; first both are counted, then the first alone.
  network.table.offset[1] += 5;
  network.parameters.insert(network.parameters.begin() + 15, 5, 8.0f);
  network.n += 5;
  const TestBuffer<float> p(device, network.parameters), s(device, std::vector<float>{4.0f, 2.0f});
  const TestBuffer<std::uint32_t> counters(device, counters_with({}));
  for (const int counted : {2, 1}) {
    TestBuffer<float> result(device, network.parameters.size());
    launch_guarded(device, spectral_apply_kernel, p, s, counters, result, network.n - 1, counted, network.table);
    REQUIRE(result.unwritten() == 1);
    const std::vector<float> scaled = result.download();
    for (std::size_t i = 0; i + 1 < scaled.size(); ++i) {
      const float by = i < 12 ? 4.0f : counted == 2 && i >= 20 && i < 29 ? 2.0f : 1.0f;
      REQUIRE(scaled[i] == network.parameters[i] / by);
    }
  }
  slope = random.floats(network.parameters.size(), 1.0f, 2.0f);
  network.table.layers = 1;  // as a count; the second is in the table still
  const std::vector<float> kept = network.backward(device, slope, network.parameters, {4.0f, 2.0f});
  REQUIRE(std::equal(kept.begin() + 12, kept.end(), slope.begin() + 12));
}
