// Dense layers. Whole numbers keep every product and sum exact in float32 whatever the order, so that most of these
// comparisons are equalities.
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

struct Shape {
  int m, n, k;
};
/// Rows, outputs, inputs: one, around the 64-wide tile and the 16-deep slab, primes, many tiles.
const std::vector<Shape> shapes = {{1, 1, 1},     {63, 63, 15}, {64, 64, 64},  {65, 65, 17}, {127, 129, 17},
                                   {2, 130, 100}, {300, 3, 31}, {129, 1, 257}, {1, 257, 16}, {513, 70, 5}};

std::size_t elements(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

std::vector<float> forward(Device& device, const std::vector<float>& x, const std::vector<float>& parameters,
                           const Shape& s, bool relu) {
  const TestBuffer<float> input(device, x), weights(device, parameters);
  TestBuffer<float> y(device, elements(s.m, s.n));
  launch_guarded(device, dense_forward_kernel, input, weights, y, s.m, s.n, s.k, relu ? 1 : 0);
  REQUIRE(y.unwritten() == 0);
  return y.download();
}

std::vector<float> backward_data(Device& device, const std::vector<float>& dy, const std::vector<float>& parameters,
                                 const std::vector<float>& x, const Shape& s) {
  const TestBuffer<float> slope(device, dy), weights(device, parameters), input(device, x);
  TestBuffer<float> dx(device, elements(s.m, s.k));
  launch_guarded(device, dense_backward_data_kernel, slope, weights, input, dx, s.m, s.n, s.k);
  REQUIRE(dx.unwritten() == 0);
  return dx.download();
}

/// Weight gradient by `splits` partial sums, `gap` floats between them that must stay as they were.
std::vector<float> backward_weight(Device& device, const std::vector<float>& x, const std::vector<float>& dy,
                                   const Shape& s, int splits, int gap = 0) {
  const int n = (s.k + 1) * s.n, stride = n + gap;
  const TestBuffer<float> input(device, x), slope(device, dy);
  TestBuffer<float> partial(device, elements(splits - 1, stride) + static_cast<std::size_t>(n));
  launch_guarded(device, dense_backward_weight_kernel, input, slope, partial, s.m, s.n, s.k, splits, stride);
  REQUIRE(partial.unwritten() == elements(splits - 1, gap));
  std::vector<float> packed;
  const std::vector<float> all = partial.download();
  for (int i = 0; i < splits; ++i) packed.insert(packed.end(), all.begin() + i * stride, all.begin() + i * stride + n);
  const TestBuffer<float> parts(device, packed);
  TestBuffer<float> gradient(device, static_cast<std::size_t>(n));
  launch_guarded(device, reduce_partials_kernel, parts, gradient, n, splits);
  REQUIRE(gradient.unwritten() == 0);
  return gradient.download();
}

/// Weights that copy input c to output c, without bias.
std::vector<float> identity(int size) {
  std::vector<float> parameters(elements(size + 1, size), 0.0f);
  for (int i = 0; i < size; ++i) parameters[elements(i, size) + static_cast<std::size_t>(i)] = 1.0f;
  return parameters;
}

std::vector<float> plus(const std::vector<float>& a, float factor, const std::vector<float>& b) {
  std::vector<float> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] + factor * b[i];
  return result;
}

/// Device memory that ends with its last element: a read past it is a sanitizer's to see.
class Tight {
 public:
  Tight(Device& device, const std::vector<float>& contents) : device_(device) {
    const std::size_t whole = (contents.size() + 63) / 64 * 64;  // what allocations are rounded up to
    memory_ = static_cast<float*>(device.allocate(whole * sizeof(float)));
    span_ = {memory_ + whole - contents.size(), contents.size()};
    device.upload(span_, contents);
  }
  Tight(const Tight&) = delete;
  Tight& operator=(const Tight&) = delete;
  ~Tight() { device_.release(memory_); }
  operator DeviceSpan<float>() const { return span_; }
  operator DeviceSpan<const float>() const { return span_; }
  std::vector<float> download() const { return device_.download(span_); }

 private:
  Device& device_;
  float* memory_;
  DeviceSpan<float> span_;
};

}  // namespace

TEST_CASE("kernel_dense: identity weights copy, and the ReLU drops the negatives alone") {
  ON_EVERY_DEVICE(device);
  Random random(40);
  for (const int size : {1, 7, 16, 63, 64, 65, 129}) {
    const Shape s{37, size, size};
    const std::vector<float> x = random.floats(elements(s.m, s.k), -5.0f, 5.0f);
    CAPTURE(size);
    REQUIRE(largest_difference(forward(device, x, identity(size), s, false), x) == 0.0);
    std::vector<float> clamped = x;
    for (float& v : clamped) v = v > 0.0f ? v : 0.0f;
    REQUIRE(largest_difference(forward(device, x, identity(size), s, true), clamped) == 0.0);
  }
}

TEST_CASE("kernel_dense: zero weights give the bias in every row") {
  ON_EVERY_DEVICE(device);
  Random random(41);
  for (const Shape& s : shapes) {
    std::vector<float> parameters(elements(s.k + 1, s.n), 0.0f);
    const std::vector<float> bias = random.floats(static_cast<std::size_t>(s.n), -2.0f, 2.0f);
    std::copy(bias.begin(), bias.end(), parameters.end() - s.n);
    const std::vector<float> y = forward(device, random.floats(elements(s.m, s.k), -9.0f, 9.0f), parameters, s, false);
    std::vector<float> expected;
    for (int row = 0; row < s.m; ++row) expected.insert(expected.end(), bias.begin(), bias.end());
    CAPTURE(s.m, s.n, s.k);
    REQUIRE(largest_difference(y, expected) == 0.0);
  }
}

TEST_CASE("kernel_dense: the output is linear in the input") {
  ON_EVERY_DEVICE(device);
  Random random(42);
  for (const Shape& s : shapes) {
    std::vector<float> parameters = random.whole(elements(s.k + 1, s.n), -8, 8);
    std::fill(parameters.end() - s.n, parameters.end(), 0.0f);
    const std::vector<float> a = random.whole(elements(s.m, s.k), -8, 8), b = random.whole(elements(s.m, s.k), -8, 8);
    const std::vector<float> of_sum = forward(device, plus(a, -3.0f, b), parameters, s, false);
    const std::vector<float> sum_of =
        plus(forward(device, a, parameters, s, false), -3.0f, forward(device, b, parameters, s, false));
    CAPTURE(s.m, s.n, s.k);
    REQUIRE(largest_difference(of_sum, sum_of) == 0.0);
  }
}

TEST_CASE("kernel_dense: inputs of one sum the columns of W, weights of one sum the rows of x") {
  ON_EVERY_DEVICE(device);
  Random random(43);
  for (const Shape& s : shapes) {
    CAPTURE(s.m, s.n, s.k);
    const std::vector<float> parameters = random.whole(elements(s.k + 1, s.n), -8, 8);
    const std::vector<float> columns =
        forward(device, std::vector<float>(elements(s.m, s.k), 1.0f), parameters, s, false);
    std::vector<float> column_sum(static_cast<std::size_t>(s.n), 0.0f);
    for (std::size_t i = 0; i < parameters.size(); ++i) column_sum[i % column_sum.size()] += parameters[i];
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!(columns[i] == column_sum[i % column_sum.size()])) FAIL("column " << i % column_sum.size());

    const std::vector<float> x = random.whole(elements(s.m, s.k), -8, 8);
    const std::vector<float> rows = forward(device, x, std::vector<float>(elements(s.k + 1, s.n), 1.0f), s, false);
    for (int row = 0; row < s.m; ++row) {
      float row_sum = 1.0f;
      for (int c = 0; c < s.k; ++c) row_sum += x[elements(row, s.k) + static_cast<std::size_t>(c)];
      for (int c = 0; c < s.n; ++c)
        if (!(rows[elements(row, s.n) + static_cast<std::size_t>(c)] == row_sum))
          FAIL("row " << row << " column " << c);
    }
  }
}

TEST_CASE("kernel_dense: a NaN passes the ReLU, in its row alone") {
  ON_EVERY_DEVICE(device);
  Random random(44);
  const Shape s{70, 67, 19};
  std::vector<float> x = random.floats(elements(s.m, s.k), -1.0f, 1.0f);
  const std::vector<float> parameters = random.floats(elements(s.k + 1, s.n), -1.0f, 1.0f);
  const std::vector<float> clean = forward(device, x, parameters, s, true);
  REQUIRE(all_finite(clean));
  x[elements(65, s.k) + 18] = NAN;
  const std::vector<float> y = forward(device, x, parameters, s, true);
  for (int row = 0; row < s.m; ++row)
    for (int c = 0; c < s.n; ++c) {
      const std::size_t i = elements(row, s.n) + static_cast<std::size_t>(c);
      if (row == 65 ? !std::isnan(y[i]) : !(y[i] == clean[i])) FAIL("row " << row << " column " << c << ": " << y[i]);
    }
}

TEST_CASE("kernel_dense: operands that are not 16-byte aligned give the same bits") {
  ON_EVERY_DEVICE(device);
  Random random(45);
  const Shape s{66, 68, 32};
  const std::vector<float> x = random.floats(elements(s.m, s.k), -1.0f, 1.0f);
  const std::vector<float> parameters = random.floats(elements(s.k + 1, s.n), -1.0f, 1.0f);
  const std::vector<float> aligned = forward(device, x, parameters, s, false);
  const auto shifted = [](std::vector<float> v) { return v.insert(v.begin(), 0.0f), v; };
  const TestBuffer<float> input(device, shifted(x)), weights(device, shifted(parameters));
  TestBuffer<float> y(device, elements(s.m, s.n) + 1);
  launch_guarded(device, dense_forward_kernel, input.span().part(1, x.size()),
                 weights.span().part(1, parameters.size()), y.span().part(1, aligned.size()), s.m, s.n, s.k, 0);
  REQUIRE(y.guards_intact());
  REQUIRE(y.unwritten() == 1);
  REQUIRE(same_bits(device.download(y.span().part(1, aligned.size())), aligned));
}

TEST_CASE("kernel_dense: gradients are the adjoint of the forward pass") {
  ON_EVERY_DEVICE(device);
  Random random(46);
  for (const Shape& s : shapes) {
    CAPTURE(s.m, s.n, s.k);
    const std::vector<float> parameters = random.whole(elements(s.k + 1, s.n), -4, 4);
    const std::vector<float> x = random.whole(elements(s.m, s.k), 1, 8);  // positive: no unit is dead
    const std::vector<float> dy = random.whole(elements(s.m, s.n), -4, 4);
    const auto loss = [&](const std::vector<float>& input, const std::vector<float>& weights) {
      return dot(dy, forward(device, input, weights, s, false));
    };
    // The loss is linear in either: a central difference of any step is exact.
    const std::vector<float> along_x = random.whole(x.size(), -3, 3);
    const double slope_x = (loss(plus(x, 1.0f, along_x), parameters) - loss(plus(x, -1.0f, along_x), parameters)) / 2;
    REQUIRE(dot(backward_data(device, dy, parameters, x, s), along_x) == slope_x);

    const std::vector<float> along_w = random.whole(parameters.size(), -3, 3);
    const double slope_w = (loss(x, plus(parameters, 1.0f, along_w)) - loss(x, plus(parameters, -1.0f, along_w))) / 2;
    REQUIRE(dot(backward_weight(device, x, dy, s, 1), along_w) == slope_w);
  }
}

TEST_CASE("kernel_dense: each gradient of a two-layer network is the slope of its loss") {
  ON_EVERY_DEVICE(device);
  Random random(47);
  const int m = 6, inputs = 5, hidden = 7, outputs = 3;
  const Shape first{m, hidden, inputs}, second{m, outputs, hidden};
  // Half a unit in the bias keeps every hidden unit off the kink of the ReLU for steps of 1/32 times inputs up to 4.
  const std::vector<float> x = random.whole(elements(m, inputs), -4, 4);
  std::vector<float> w1 = random.whole(elements(inputs + 1, hidden), -2, 2);
  for (int j = 0; j < hidden; ++j) w1[elements(inputs, hidden) + static_cast<std::size_t>(j)] += 0.5f;
  const std::vector<float> w2 = random.whole(elements(hidden + 1, outputs), -2, 2);
  const std::vector<float> dy = random.whole(elements(m, outputs), -3, 3);
  const std::vector<float> h = forward(device, x, w1, first, true);
  const std::vector<float> dh = backward_data(device, dy, w2, h, second);
  const auto loss = [&](const std::vector<float>& a, const std::vector<float>& b) {
    return dot(dy, forward(device, forward(device, x, a, first, true), b, second, false));
  };
  const auto require_slopes = [&](const std::vector<float>& w, const std::vector<float>& gradient, auto loss_of) {
    REQUIRE(gradient.size() == w.size());
    for (std::size_t i = 0; i < w.size(); ++i) {
      std::vector<float> up = w, down = w;
      up[i] += 0.03125f;
      down[i] -= 0.03125f;
      CAPTURE(i);
      REQUIRE(gradient[i] == (loss_of(up) - loss_of(down)) / 0.0625);
    }
    REQUIRE(dot(gradient, gradient) > 0.0);
  };
  require_slopes(w1, backward_weight(device, x, dh, first, 1), [&](const auto& w) { return loss(w, w2); });
  require_slopes(w2, backward_weight(device, h, dy, second, 1), [&](const auto& w) { return loss(w1, w); });
}

TEST_CASE("kernel_dense: no gradient passes a dead unit") {
  ON_EVERY_DEVICE(device);
  Random random(48);
  for (const Shape& s : shapes) {
    const std::vector<float> x = random.whole(elements(s.m, s.k), -2, 2);
    const std::vector<float> dy(elements(s.m, s.n), 1.0f), ones(elements(s.k + 1, s.n), 1.0f);
    const std::vector<float> dx = backward_data(device, dy, ones, x, s);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(dx[i] == (x[i] > 0.0f ? static_cast<float>(s.n) : 0.0f))) FAIL("input " << x[i] << " got " << dx[i]);
  }
}

TEST_CASE("kernel_dense: the bias gradient is the column sum of dy, the splits' number changes nothing") {
  ON_EVERY_DEVICE(device);
  Random random(49);
  for (const Shape& s : shapes) {
    CAPTURE(s.m, s.n, s.k);
    const std::vector<float> x = random.whole(elements(s.m, s.k), -4, 4), dy = random.whole(elements(s.m, s.n), -4, 4);
    const std::vector<float> whole = backward_weight(device, x, dy, s, 1);
    std::vector<float> column_sum(static_cast<std::size_t>(s.n), 0.0f);
    for (std::size_t i = 0; i < dy.size(); ++i) column_sum[i % column_sum.size()] += dy[i];
    REQUIRE(std::vector<float>(whole.end() - s.n, whole.end()) == column_sum);
    for (const int splits : {2, 3, 8, 40})  // 40: more splits than there are slabs of rows
      REQUIRE(largest_difference(backward_weight(device, x, dy, s, splits, 5), whole) == 0.0);
  }
}

TEST_CASE("kernel_dense: partial sums are added in their order") {
  ON_EVERY_DEVICE(device);
  // In float32, 2^25 + 1 is 2^25: only the stated order gives 0 for the first column and 1 for the second.
  const float big = 33554432.0f;
  const TestBuffer<float> partial(device, std::vector<float>{big, big, 1.0f, -big, -big, 1.0f});
  TestBuffer<float> gradient(device, 2);
  launch_guarded(device, reduce_partials_kernel, partial, gradient, 2, 3);
  REQUIRE(gradient.download() == std::vector<float>{0.0f, 1.0f});
}

TEST_CASE("kernel_dense: sums of partials over more elements than a grid carries") {
  ON_EVERY_DEVICE(device);
  Random random(50);
  const int n = 300007, splits = 3;
  const std::vector<float> partial = random.whole(elements(n, splits), -100, 100);
  const TestBuffer<float> parts(device, partial);
  TestBuffer<float> gradient(device, static_cast<std::size_t>(n));
  launch_guarded(device, reduce_partials_kernel, parts, gradient, n, splits);
  REQUIRE(gradient.unwritten() == 0);
  REQUIRE(sum(gradient.download()) == sum(partial));
}

TEST_CASE("kernel_dense: no operand is read past its end") {
  ON_EVERY_DEVICE(device);
  Random random(51);
  for (const Shape& s : {Shape{63, 63, 15}, Shape{65, 68, 20}, Shape{64, 68, 68}, Shape{127, 130, 33}}) {
    const std::vector<float> x = random.whole(elements(s.m, s.k), -4, 4), dy = random.whole(elements(s.m, s.n), -4, 4),
                             parameters = random.whole(elements(s.k + 1, s.n), -4, 4);
    const Tight input(device, x), weights(device, parameters), slope(device, dy), y(device, dy), dx(device, x),
        gradient(device, parameters);
    launch(device, dense_forward_kernel, input, weights, y, s.m, s.n, s.k, 0);
    launch(device, dense_backward_data_kernel, slope, weights, input, dx, s.m, s.n, s.k);
    launch(device, dense_backward_weight_kernel, input, slope, gradient, s.m, s.n, s.k, 1, 0);
    CAPTURE(s.m, s.n, s.k);
    REQUIRE(y.download() == forward(device, x, parameters, s, false));
    REQUIRE(dx.download() == backward_data(device, dy, parameters, x, s));
    REQUIRE(gradient.download() == backward_weight(device, x, dy, s, 1));
  }
}

TEST_CASE("kernel_dense: splits share the rows evenly, in whole slabs of eight") {
  ON_EVERY_DEVICE(device);
  const int n = 3, k = 2, splits = 3, size = (k + 1) * n;
  for (const auto& [m, rows] :
       {std::pair{48, std::vector<float>{16, 16, 16}}, std::pair{50, std::vector<float>{24, 24, 2}},
        std::pair{9, std::vector<float>{8, 1, 0}}}) {
    const TestBuffer<float> x(device, std::vector<float>(elements(m, k), 1.0f)),
        dy(device, std::vector<float>(elements(m, n), 1.0f));
    TestBuffer<float> partial(device, elements(splits, size));
    launch_guarded(device, dense_backward_weight_kernel, x, dy, partial, m, n, k, splits, size);
    const std::vector<float> sums = partial.download();
    CAPTURE(m);
    for (int i = 0; i < splits * size; ++i)
      REQUIRE(sums[static_cast<std::size_t>(i)] == rows[static_cast<std::size_t>(i / size)]);
  }
}

TEST_CASE("kernel_dense: a sum of partials writes its gradient and nothing after it") {
  ON_EVERY_DEVICE(device);
  const int n = 5, splits = 2;
  const TestBuffer<float> partial(device, std::vector<float>(12, 1.0f));
  TestBuffer<float> gradient(device, 6);
  launch_guarded(device, reduce_partials_kernel, partial, gradient.span().part(0, 5), n, splits);
  REQUIRE(gradient.unwritten() == 1);
}
