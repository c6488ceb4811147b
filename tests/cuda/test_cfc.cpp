// The continuous-time cell: one step, whole windows, and the way back through them.
#include "tests/cuda/finite_differences.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr float tau_min = 0.01f;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// Windows and the weights that run through them.
struct Scan {
  int windows, steps, hidden;
  std::vector<float> drive, seconds, recurrent, initial;

  Scan(Random& random, int window_count, int step_count, int width)
      : windows(window_count), steps(step_count), hidden(width) {
    drive = random.floats(states(), -1.5f, 1.5f);
    seconds = random.floats(size(windows * rows()), 0.0f, 2.0f);
    initial = random.floats(size(windows * hidden), -0.9f, 0.9f);
    recurrent = random.floats(size((hidden + 1) * hidden), -1.0f, 1.0f);
    const float scale = 1.0f / std::sqrt(static_cast<float>(hidden));
    for (std::size_t i = 0; i < size(hidden * hidden); ++i) recurrent[i] *= scale;
  }
  int rows() const { return steps + 1; }
  std::size_t states() const { return size(windows * rows() * hidden); }
  std::size_t at(int window, int row, int j) const { return size((window * rows() + row) * hidden + j); }

  struct Result {
    std::vector<float> state, candidate;
  };
  Result forward(Device& device) const {
    const TestBuffer<float> x(device, drive), dt(device, seconds), h0(device, initial);
    const EndingBuffer<float> w(device, recurrent);
    TestBuffer<float> state(device, states()), candidate(device, states());
    launch_guarded(device, cfc_scan_forward_kernel, x, dt, w, h0, state, candidate, windows, steps, hidden, tau_min);
    REQUIRE(state.unwritten() + candidate.unwritten() == 0);
    return {state.download(), candidate.download()};
  }

  struct Gradient {
    std::vector<float> drive, theta;  // theta: the sum over the blocks
  };
  Gradient backward(Device& device, const std::vector<float>& d_state) const {
    const Result result = forward(device);
    const TestBuffer<float> wanted(device, d_state), state(device, result.state), candidate(device, result.candidate),
        dt(device, seconds), w(device, recurrent);
    const int blocks = (windows + 3) / 4;
    TestBuffer<float> d_drive(device, states()), d_theta(device, size(blocks * hidden));
    launch_guarded(device, cfc_scan_backward_kernel, wanted, state, candidate, dt, w, d_drive, d_theta, windows, steps,
                   hidden, tau_min);
    REQUIRE(d_drive.unwritten() + d_theta.unwritten() == 0);
    Gradient gradient{d_drive.download(), std::vector<float>(size(hidden), 0.0f)};
    const std::vector<float> parts = d_theta.download();
    for (std::size_t i = 0; i < parts.size(); ++i) gradient.theta[i % size(hidden)] += parts[i];
    return gradient;
  }
};

/// One step of every row.
std::vector<float> step(Device& device, const std::vector<float>& drive, const std::vector<float>& seconds,
                        const std::vector<float>& recurrent, const std::vector<float>& state, int hidden) {
  const TestBuffer<float> x(device, drive), dt(device, seconds), w(device, recurrent), h(device, state);
  TestBuffer<float> next(device, state.size());
  launch_guarded(device, cfc_step_kernel, x, dt, w, h, next, static_cast<int>(seconds.size()), hidden, tau_min);
  REQUIRE(next.unwritten() == 0);
  return next.download();
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// What the loss of the gradient tests wants of each state: random, nothing of the first row of a window.
std::vector<float> wanted_of(Random& random, const Scan& scan) {
  std::vector<float> d_state = random.floats(scan.states(), -1.0f, 1.0f);
  for (int w = 0; w < scan.windows; ++w)
    for (int j = 0; j < scan.hidden; ++j) d_state[scan.at(w, 0, j)] = 0.0f;
  return d_state;
}

/// Losses of a scan with one of its inputs replaced in turn.
LossOfMany losses_of(Device& device, const Scan& scan, std::vector<float> Scan::*input,
                     const std::vector<float>& wanted) {
  return [&device, scan, input, wanted](const std::vector<std::vector<float>>& values) {
    std::vector<double> losses;
    for (const std::vector<float>& value : values) {
      Scan moved = scan;
      moved.*input = value;
      losses.push_back(dot(moved.forward(device).state, wanted));
    }
    return losses;
  };
}

}  // namespace

TEST_CASE("kernel_cfc: no time passed, nothing changed") {
  ON_EVERY_DEVICE(device);
  Random random(300);
  for (const int hidden : {1, 31, 64, 128}) {
    const int rows = 5;
    const auto state = random.floats(size(rows * hidden), -3.0f, 3.0f);
    const auto drive = random.floats(state.size(), -5.0f, 5.0f);
    const auto recurrent = random.floats(size((hidden + 1) * hidden), -2.0f, 2.0f);
    REQUIRE(step(device, drive, std::vector<float>(5, 0.0f), recurrent, state, hidden) == state);
    REQUIRE(step(device, drive, std::vector<float>(5, -1.0f), recurrent, state, hidden) == state);  // nor backwards
  }
}

TEST_CASE("kernel_cfc: a state never leaves [-max(|h|, 1), max(|h|, 1)]") {
  ON_EVERY_DEVICE(device);
  Random random(301);
  for (const float size_of : {0.1f, 1.0f, 7.0f}) {
    const int hidden = 97, rows = 40;
    const auto state = random.floats(size(rows * hidden), -size_of, size_of);
    const auto next = step(device, random.floats(state.size(), -50.0f, 50.0f), random.floats(40, 0.0f, 100.0f),
                           random.floats(size((hidden + 1) * hidden), -3.0f, 3.0f), state, hidden);
    for (std::size_t i = 0; i < state.size(); ++i)
      REQUIRE(std::fabs(next[i]) <= std::max(std::fabs(state[i]), 1.0f) * (1.0f + 1e-6f));
  }
}

TEST_CASE("kernel_cfc: with time a state goes to its candidate, the nearer the later") {
  ON_EVERY_DEVICE(device);
  Random random(302);
  const int hidden = 33;
  std::vector<float> recurrent(size((hidden + 1) * hidden), 0.0f);  // no recurrence: the candidate is tanh(drive)
  for (int j = 0; j < hidden; ++j) recurrent[size(hidden * hidden + j)] = random.uniform(-2.0f, 2.0f);
  const auto state = random.floats(size(hidden), -0.9f, 0.9f), drive = random.floats(size(hidden), -2.0f, 2.0f);
  std::vector<float> before = state;
  for (const float seconds : {0.001f, 0.01f, 0.1f, 0.5f, 1.0f, 3.0f, 10.0f}) {
    const auto now = step(device, drive, {seconds}, recurrent, state, hidden);
    for (std::size_t j = 0; j < now.size(); ++j) {
      const float target = std::tanh(drive[j]);
      CAPTURE(seconds, j, state[j], target, before[j], now[j]);
      REQUIRE(std::fabs(now[j] - target) <= std::fabs(before[j] - target) + 1e-6f);
      REQUIRE(std::fabs(now[j] - target) <= std::fabs(state[j] - target) + 1e-6f);
    }
    before = now;
  }
  const auto late = step(device, drive, {1e6f}, recurrent, state, hidden);
  for (std::size_t j = 0; j < late.size(); ++j) REQUIRE(std::fabs(late[j] - std::tanh(drive[j])) < 1e-6f);
}

TEST_CASE("kernel_cfc: without recurrence two half steps are one whole step") {
  ON_EVERY_DEVICE(device);
  Random random(303);
  const int hidden = 40;
  auto recurrent = random.floats(size((hidden + 1) * hidden), -2.0f, 2.0f);
  std::fill(recurrent.begin(), recurrent.begin() + hidden * hidden, 0.0f);
  const auto state = random.floats(size(hidden), -1.0f, 1.0f), drive = random.floats(size(hidden), -2.0f, 2.0f);
  for (const float seconds : {1e-4f, 0.02f, 0.7f, 5.0f}) {
    const auto half = step(device, drive, {seconds / 2}, recurrent, state, hidden);
    const auto twice = step(device, drive, {seconds / 2}, recurrent, half, hidden);
    const auto whole = step(device, drive, {seconds}, recurrent, state, hidden);
    for (std::size_t j = 0; j < whole.size(); ++j) REQUIRE(std::fabs(twice[j] - whole[j]) < 1e-6f);
  }
}

TEST_CASE("kernel_cfc: a larger theta slows a state down") {
  ON_EVERY_DEVICE(device);
  const int hidden = 8;
  std::vector<float> recurrent(size((hidden + 1) * hidden), 0.0f);
  for (int j = 0; j < hidden; ++j)
    recurrent[size(hidden * hidden + j)] = -4.0f + 4.0f * static_cast<float>(j);  // to 24
  const auto next = step(device, std::vector<float>(8, 3.0f), {0.5f}, recurrent, std::vector<float>(8, 0.0f), hidden);
  for (std::size_t j = 1; j < 8; ++j) REQUIRE(next[j] < next[j - 1]);
  REQUIRE(next[7] > 0.0f);
}

TEST_CASE("kernel_cfc: time constants go from tau_min to for ever") {
  ON_EVERY_DEVICE(device);
  Random random(307);
  const int hidden = 5;
  Scan scan(random, 2, 3, hidden);
  const std::vector<float> none(size(hidden * hidden), 0.0f);
  for (const auto& [theta, tau] : {std::pair{-50.0f, 0.01f}, std::pair{0.0f, 0.01f + std::log(2.0f)},
                                   std::pair{25.0f, 25.01f}, std::pair{100.0f, 100.01f}}) {
    std::vector<float> recurrent = none;
    recurrent.resize(size((hidden + 1) * hidden), theta);
    const auto next =
        step(device, std::vector<float>(5, 2.0f), {0.5f * tau}, recurrent, std::vector<float>(5, 0.0f), hidden);
    for (const float h : next) REQUIRE(std::fabs(h - (1.0f - std::exp(-0.5f)) * std::tanh(2.0f)) < 1e-6f);
  }
  std::fill(scan.recurrent.begin() + hidden * hidden, scan.recurrent.end(), INFINITY);
  REQUIRE(step(device, scan.drive, std::vector<float>(8, 100.0f), scan.recurrent, scan.drive, hidden) == scan.drive);
  const std::vector<float> state = scan.forward(device).state;
  for (int w = 0; w < 2; ++w)
    for (int s = 0; s <= 3; ++s)
      for (int j = 0; j < hidden; ++j) REQUIRE(state[scan.at(w, s, j)] == scan.initial[size(w * hidden + j)]);
}

TEST_CASE("kernel_cfc: a state that is not a number stays in its row and its window") {
  ON_EVERY_DEVICE(device);
  Random random(308);
  const int hidden = 6;
  Scan scan(random, 3, 2, hidden);
  const std::vector<float> whole = scan.forward(device).state;
  std::fill(scan.initial.begin() + hidden, scan.initial.begin() + 2 * hidden, NAN);
  const std::vector<float> state = scan.forward(device).state;
  const std::vector<float> x(size(3 * hidden), 0.5f), dt(3, 1.0f);
  const std::vector<float> next = step(device, x, dt, scan.recurrent, scan.initial, hidden);
  for (const int w : {0, 2})
    for (int j = 0; j < hidden; ++j) {
      for (int s = 0; s <= 2; ++s) REQUIRE(state[scan.at(w, s, j)] == whole[scan.at(w, s, j)]);
      REQUIRE(std::fabs(next[size(w * hidden + j)]) <= 1.0f);
    }
}

TEST_CASE("kernel_cfc: more rows than run at a time are each as if alone") {
  ON_EVERY_DEVICE(device);
  Random random(309);
  const std::vector<float> recurrent = random.floats(6, -1.0f, 1.0f), drive = random.floats(34, -1.0f, 1.0f),
                           seconds = random.floats(17, 0.0f, 2.0f), state = random.floats(34, -1.0f, 1.0f);
  const std::vector<float> next = step(device, drive, seconds, recurrent, state, 2);
  for (const int r : {0, 16}) {
    const auto row = [r](const std::vector<float>& of) {
      return std::vector<float>(of.begin() + 2 * r, of.begin() + 2 * r + 2);
    };
    REQUIRE(step(device, row(drive), {seconds[size(r)]}, recurrent, row(state), 2) == row(next));
  }
}

TEST_CASE("kernel_cfc: the last of more windows than run at a time is as if alone, both ways") {
  ON_EVERY_DEVICE(device);
  Random random(327);
  const Scan scan(random, 65, 1, 2);
  const std::vector<float> wanted = wanted_of(random, scan);
  const auto last = [](const std::vector<float>& of, std::size_t width) {
    return std::vector<float>(of.end() - static_cast<long>(width), of.end());
  };
  Scan one = scan;
  one.windows = 1;
  one.drive = last(scan.drive, 4), one.seconds = last(scan.seconds, 2), one.initial = last(scan.initial, 2);
  REQUIRE(one.forward(device).state == last(scan.forward(device).state, 4));
  REQUIRE(one.backward(device, last(wanted, 4)).drive == last(scan.backward(device, wanted).drive, 4));
}

TEST_CASE("kernel_cfc: a window is its steps, bit for bit, whatever the windows beside it") {
  ON_EVERY_DEVICE(device);
  Random random(304);
  for (const auto& [windows, steps, hidden] :
       {std::tuple{1, 1, 1}, std::tuple{5, 7, 31}, std::tuple{9, 4, 128}, std::tuple{3, 20, 64}}) {
    const Scan scan(random, windows, steps, hidden);
    const Scan::Result result = scan.forward(device);
    std::vector<float> h = scan.initial;
    for (int s = 0; s <= steps; ++s) {
      std::vector<float> x, dt;
      for (int w = 0; w < windows; ++w) {
        for (int j = 0; j < hidden; ++j)
          if (result.state[scan.at(w, s, j)] != h[size(w * hidden + j)]) FAIL("window " << w << ", row " << s);
        dt.push_back(scan.seconds[size(w * scan.rows() + s)]);
        x.insert(x.end(), scan.drive.begin() + static_cast<long>(scan.at(w, s, 0)),
                 scan.drive.begin() + static_cast<long>(scan.at(w, s, 0)) + hidden);
      }
      if (s < steps) h = step(device, x, dt, scan.recurrent, h, hidden);
    }
    for (const float c : result.candidate) REQUIRE(std::fabs(c) <= 1.0f);
    for (int w = 0; w < windows; ++w)
      for (int j = 0; j < hidden; ++j) REQUIRE(result.candidate[scan.at(w, steps, j)] == 0.0f);
  }
}

TEST_CASE("kernel_cfc: what a state makes of another is W_rec's row and column") {
  ON_EVERY_DEVICE(device);
  const int hidden = 128;
  std::vector<float> recurrent(size((hidden + 1) * hidden), 0.0f), state(size(hidden), 0.0f);
  recurrent[size(100 * hidden + 3)] = 2.0f;
  recurrent[size(127 * hidden + 64)] = -1.0f;
  recurrent[size(127 * hidden + 127)] = 3.0f;
  state[100] = state[127] = 0.5f;
  const auto next = step(device, std::vector<float>(size(hidden), 0.0f), {1e6f}, recurrent, state, hidden);
  for (int j = 0; j < hidden; ++j)
    REQUIRE(std::fabs(next[size(j)] - std::tanh(j == 3 ? 1.0f : j == 64 ? -0.5f : j == 127 ? 1.5f : 0.0f)) < 1e-6f);
}

TEST_CASE("kernel_cfc: the way back gives the slopes of drive, weights, time constants and nothing past the window") {
  ON_EVERY_DEVICE(device);
  Random random(305);
  for (const auto& [windows, steps, hidden] : {std::tuple{1, 1, 3}, std::tuple{5, 6, 5}, std::tuple{2, 9, 7}}) {
    CAPTURE(windows, steps, hidden);
    const Scan scan(random, windows, steps, hidden);
    const std::vector<float> wanted = wanted_of(random, scan);
    const Scan::Gradient gradient = scan.backward(device, wanted);
    for (int w = 0; w < windows; ++w)
      for (int j = 0; j < hidden; ++j) REQUIRE(gradient.drive[scan.at(w, steps, j)] == 0.0f);
    require_gradient(scan.drive, gradient.drive, losses_of(device, scan, &Scan::drive, wanted));

    // W_rec's gradient is the product of states and d_drive over all rows; theta's comes by itself.
    const std::vector<float> state = scan.forward(device).state;
    std::vector<float> weights(scan.recurrent.size(), 0.0f);
    for (int r = 0; r < windows * scan.rows(); ++r)
      for (int i = 0; i < hidden; ++i)
        for (int j = 0; j < hidden; ++j)
          weights[size(i * hidden + j)] += state[size(r * hidden + i)] * gradient.drive[size(r * hidden + j)];
    std::copy(gradient.theta.begin(), gradient.theta.end(), weights.begin() + hidden * hidden);
    require_gradient(scan.recurrent, weights, losses_of(device, scan, &Scan::recurrent, wanted));
  }
}

TEST_CASE("kernel_cfc: what is wanted of a state reaches every step before it and none after") {
  ON_EVERY_DEVICE(device);
  Random random(306);
  const Scan scan(random, 3, 12, 20);
  for (const int row : {1, 5, 12}) {
    std::vector<float> wanted(scan.states(), 0.0f);
    for (int j = 0; j < 20; ++j) wanted[scan.at(1, row, j)] = 1.0f;
    const std::vector<float> d_drive = scan.backward(device, wanted).drive;
    for (int w = 0; w < 3; ++w)
      for (int s = 0; s <= 12; ++s) {
        double sum = 0;
        for (int j = 0; j < 20; ++j) sum += std::fabs(d_drive[scan.at(w, s, j)]);
        CAPTURE(row, w, s);
        REQUIRE((w == 1 && s < row ? sum > 0.0 : sum == 0.0));
      }
  }
}

TEST_CASE("kernel_cfc: cells numbered the other way round have the same slopes, up to the widest trunk") {
  ON_EVERY_DEVICE(device);
  Random random(326);
  for (const int hidden : {7, 128}) {
    const Scan scan(random, 2, 3, hidden);
    const std::vector<float> wanted = wanted_of(random, scan);
    const auto turned = [hidden](std::vector<float> rows) {
      for (auto row = rows.begin(); row != rows.end(); row += hidden) std::reverse(row, row + hidden);
      return rows;
    };
    Scan other = scan;
    other.drive = turned(scan.drive), other.initial = turned(scan.initial);
    other.recurrent = turned(scan.recurrent);
    for (int i = 0; i < hidden / 2; ++i)  // and the rows of W_rec
      std::swap_ranges(other.recurrent.begin() + i * hidden, other.recurrent.begin() + (i + 1) * hidden,
                       other.recurrent.begin() + (hidden - 1 - i) * hidden);
    const Scan::Gradient gradient = scan.backward(device, wanted), back = other.backward(device, turned(wanted));
    CAPTURE(hidden);
    REQUIRE(largest_difference(gradient.drive, turned(back.drive)) < 1e-5);
    REQUIRE(largest_difference(gradient.theta, turned(back.theta)) < 1e-5);
    REQUIRE(std::fabs(gradient.drive[scan.at(0, 0, hidden - 1)]) > 0.0f);
  }
}
