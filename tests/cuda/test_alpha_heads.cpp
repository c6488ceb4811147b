// From states to eight numbers, to five logits, to a loss, and back.
#include "tests/cuda/finite_differences.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// States and the weights of projection and heads.
struct Heads {
  int rows, hidden;
  std::vector<float> state, projector, heads;

  Heads(Random& random, int row_count, int width) : rows(row_count), hidden(width) {
    state = random.floats(size(rows * hidden), -1.0f, 1.0f);
    projector = random.floats(size((hidden + 1) * 8), -0.5f, 0.5f);
    heads = random.floats(45, -1.0f, 1.0f);
  }
  struct Result {
    std::vector<float> projection, logits;
  };
  Result forward(Device& device) const {
    const TestBuffer<float> h(device, state), p(device, projector), w(device, heads);
    TestBuffer<float> projection(device, size(rows * 8)), logits(device, size(rows * 5));
    launch_guarded(device, multi_horizon_heads_kernel, h, p, w, projection, logits, rows, hidden);
    REQUIRE(projection.unwritten() + logits.unwritten() == 0);
    return {projection.download(), logits.download()};
  }
  struct Gradient {
    std::vector<float> projected, state;
  };
  Gradient backward(Device& device, const std::vector<float>& d_logits) const {
    const TestBuffer<float> wanted(device, d_logits), projection(device, forward(device).projection),
        p(device, projector), w(device, heads);
    TestBuffer<float> d_projected(device, size(rows * 8)), d_state(device, state.size());
    launch_guarded(device, multi_horizon_heads_backward_kernel, wanted, projection, p, w, d_projected, d_state, rows,
                   hidden);
    REQUIRE(d_projected.unwritten() + d_state.unwritten() == 0);
    return {d_projected.download(), d_state.download()};
  }
};

struct Loss {
  std::vector<float> loss, d_logits;
};
Loss bce(Device& device, const std::vector<float>& logits, const std::vector<std::uint8_t>& labels,
         float scale = 1.0f) {
  const int rows = static_cast<int>(logits.size()) / 5;
  const TestBuffer<float> x(device, logits);
  const TestBuffer<std::uint8_t> y(device, labels);
  TestBuffer<float> loss(device, size(rows)), d_logits(device, logits.size());
  launch_guarded(device, bce_loss_kernel, x, y, loss, d_logits, rows, scale);
  REQUIRE(loss.unwritten() + d_logits.unwritten() == 0);
  return {loss.download(), d_logits.download()};
}

std::vector<std::uint8_t> random_labels(Random& random, std::size_t count) {
  std::vector<std::uint8_t> labels(count);
  for (std::uint8_t& label : labels) {
    const int drawn = random.integer(0, 3);
    label = drawn == 3 ? no_label : static_cast<std::uint8_t>(drawn % 2);
  }
  return labels;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

LossOfMany losses_of(Device& device, const Heads& heads, std::vector<float> Heads::*input,
                     const std::vector<float>& wanted) {
  return [&device, heads, input, wanted](const std::vector<std::vector<float>>& values) {
    std::vector<double> losses;
    for (const std::vector<float>& value : values) {
      Heads moved = heads;
      moved.*input = value;
      losses.push_back(dot(moved.forward(device).logits, wanted));
    }
    return losses;
  };
}

}  // namespace

TEST_CASE("kernel_heads: projections are the tanh of their sums, logits the sums of projections") {
  ON_EVERY_DEVICE(device);
  Random random(310);
  for (const auto& [rows, hidden] : {std::pair{1, 1}, std::pair{7, 31}, std::pair{130, 128}, std::pair{2003, 20}}) {
    Heads heads(random, rows, hidden);
    std::fill(heads.projector.begin(), heads.projector.end(), 0.0f);
    std::fill(heads.heads.begin(), heads.heads.end(), 0.0f);
    for (int k = 0; k < 8; ++k) {
      heads.projector[size((k % hidden) * 8 + k)] = 2.0f;    // projection k: twice state k
      heads.projector[size(hidden * 8 + k)] = 0.125f;        // and its bias
      if (k < 5) heads.heads[size((7 - k) * 5 + k)] = 3.0f;  // logit k: three times projection 7 - k
    }
    for (int z = 0; z < 5; ++z) heads.heads[size(40 + z)] = static_cast<float>(z);
    const Heads::Result result = heads.forward(device);
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < 8; ++k)
        REQUIRE(std::fabs(result.projection[size(r * 8 + k)] -
                          std::tanh(2.0f * heads.state[size(r * hidden + k % hidden)] + 0.125f)) < 1e-6f);
      for (int z = 0; z < 5; ++z)
        REQUIRE(std::fabs(result.logits[size(r * 5 + z)] -
                          (3.0f * result.projection[size(r * 8 + 7 - z)] + static_cast<float>(z))) < 1e-5f);
    }
  }
}

TEST_CASE("kernel_heads: a projection is a sum over every state, and its slopes reach each of them") {
  ON_EVERY_DEVICE(device);
  Random random(315);
  Heads heads(random, 3, 70);
  std::fill(heads.state.begin(), heads.state.end(), 0.25f);
  std::fill(heads.projector.begin(), heads.projector.begin() + 70 * 8, 0.03125f);
  std::fill(heads.projector.begin() + 70 * 8, heads.projector.end(), -0.5f);
  for (const float p : heads.forward(device).projection)
    REQUIRE(std::fabs(p - std::tanh(70.0f * 0.25f * 0.03125f - 0.5f)) < 1e-6f);
  const Heads::Gradient gradient = heads.backward(device, random.floats(15, 0.5f, 1.0f));
  for (int r = 0; r < 3; ++r) {
    float sum = 0.0f;  // of the slopes of what is projected, all by the same weight
    for (int k = 0; k < 8; ++k) sum += gradient.projected[size(r * 8 + k)];
    for (int i = 0; i < 70; ++i) REQUIRE(std::fabs(gradient.state[size(r * 70 + i)] - 0.03125f * sum) < 1e-6f);
  }
}

TEST_CASE("kernel_heads: whatever the states, projections stay within one") {
  ON_EVERY_DEVICE(device);
  Random random(311);
  Heads heads(random, 300, 64);
  for (float& h : heads.state) h *= 1000.0f;
  for (const float p : heads.forward(device).projection) REQUIRE(std::fabs(p) <= 1.0f);
}

TEST_CASE("kernel_heads: the way back gives the slopes of states, projector and heads") {
  ON_EVERY_DEVICE(device);
  Random random(312);
  const Heads heads(random, 6, 9);
  const std::vector<float> wanted = random.floats(30, -1.0f, 1.0f);
  const Heads::Gradient gradient = heads.backward(device, wanted);
  require_gradient(heads.state, gradient.state, losses_of(device, heads, &Heads::state, wanted));

  const auto product = [](const std::vector<float>& inputs, const std::vector<float>& slopes, int rows, int width,
                          int outputs) {  // with the bias as a last input of one
    std::vector<float> sum(size((width + 1) * outputs), 0.0f);
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i <= width; ++i)
        for (int k = 0; k < outputs; ++k)
          sum[size(i * outputs + k)] +=
              (i < width ? inputs[size(r * width + i)] : 1.0f) * slopes[size(r * outputs + k)];
    return sum;
  };
  require_gradient(heads.projector, product(heads.state, gradient.projected, 6, 9, 8),
                   losses_of(device, heads, &Heads::projector, wanted));
  require_gradient(heads.heads, product(heads.forward(device).projection, wanted, 6, 8, 5),
                   losses_of(device, heads, &Heads::heads, wanted));
}

TEST_CASE("kernel_bce: known losses, masked labels, and slopes between -1 and 1") {
  ON_EVERY_DEVICE(device);
  const Loss known = bce(device, {0.0f, 0.0f, 100.0f, -100.0f, 5.0f}, {0, 1, 1, 0, no_label});
  REQUIRE(std::fabs(known.loss[0] - 2.0f * std::log(2.0f)) < 1e-6f);
  REQUIRE(known.d_logits[0] == 0.5f);
  REQUIRE(known.d_logits[1] == -0.5f);
  REQUIRE(known.d_logits[4] == 0.0f);
  const Loss wrong = bce(device, {1e4f, -1e4f, 0.0f, 0.0f, 0.0f}, {0, 1, 2, 3, 254});
  REQUIRE(std::fabs(wrong.loss[0] - 2e4f) < 1.0f);
  REQUIRE(wrong.d_logits == std::vector<float>{1.0f, -1.0f, 0.0f, 0.0f, 0.0f});

  Random random(313);
  const auto logits = random.floats(5 * 1009, -30.0f, 30.0f);
  const auto labels = random_labels(random, logits.size());
  const Loss loss = bce(device, logits, labels);
  for (const float x : loss.loss) REQUIRE(x >= 0.0f);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float d = loss.d_logits[i];
    REQUIRE((labels[i] == 0 ? d >= 0.0f && d <= 1.0f : labels[i] == 1 ? d <= 0.0f && d >= -1.0f : d == 0.0f));
  }
}

TEST_CASE("kernel_bce: the gradient is the slope of the loss, and scales") {
  ON_EVERY_DEVICE(device);
  Random random(314);
  const auto logits = random.floats(50, -3.0f, 3.0f);
  const auto labels = random_labels(random, logits.size());
  require_gradient(logits, bce(device, logits, labels).d_logits, [&](const std::vector<std::vector<float>>& values) {
    std::vector<double> losses;
    for (const auto& value : values) {
      double sum = 0;
      for (const float x : bce(device, value, labels).loss) sum += static_cast<double>(x);
      losses.push_back(sum);
    }
    return losses;
  });
  const auto whole = bce(device, logits, labels).d_logits, quarter = bce(device, logits, labels, 0.25f).d_logits;
  for (std::size_t i = 0; i < whole.size(); ++i) REQUIRE(quarter[i] == 0.25f * whole[i]);
}

TEST_CASE("kernel_bce: the mean is over the labels that there are, and what is not finite is reported") {
  ON_EVERY_DEVICE(device);
  const auto reduce = [&](const std::vector<float>& losses, const std::vector<std::uint8_t>& labels) {
    const TestBuffer<float> loss(device, losses);
    const TestBuffer<std::uint8_t> y(device, labels);
    TestBuffer<float> isv(device, isv_with({}));
    TestBuffer<std::uint32_t> counters(device, counters_with({}));
    launch_guarded(device, reduce_bce_kernel, loss, y, isv, counters, static_cast<int>(losses.size()));
    return std::tuple{isv.at(isv_loss), counters.at(counter_nonfinite), counters.at(counter_nonfinite_mask)};
  };
  std::vector<std::uint8_t> labels(10, no_label);
  REQUIRE(reduce({0.0f, 0.0f}, labels) == std::tuple{0.0f, 0u, 0u});
  labels[3] = 0;
  REQUIRE(reduce({5.0f, 0.0f}, labels) == std::tuple{5.0f, 0u, 0u});
  labels[0] = 1, labels[9] = 1;
  REQUIRE(reduce({5.0f, 4.0f}, labels) == std::tuple{3.0f, 0u, 0u});
  REQUIRE(std::get<1>(reduce({NAN, 4.0f}, labels)) == 1);
  REQUIRE(std::get<2>(reduce({1.0f, INFINITY}, labels)) == nonfinite_loss);
  const std::vector<std::uint8_t> all(5 * 3001, 1);
  REQUIRE(std::get<0>(reduce(std::vector<float>(3001, 10.0f), all)) == 2.0f);
}
