// Which snapshots a training step sees.
#include <set>

#include "tests/cuda/kernel_fixture.h"
#include "tests/cuda/random_words.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {
std::size_t size(int n) { return static_cast<std::size_t>(n); }
}  // namespace

TEST_CASE("kernel_windows: starts are those that seed and iteration say, from all that there are") {
  ON_EVERY_DEVICE(device);
  std::vector<std::int32_t> rows;
  for (int i = 0; i < 50; ++i) rows.push_back(7 * i + 3);
  const TestBuffer<std::int32_t> allowed(device, rows);
  std::set<std::int32_t> seen;
  for (const std::uint32_t iteration : {0u, 1u, 2u}) {
    TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, iteration}}));
    TestBuffer<std::int32_t> starts(device, 200);
    launch_guarded(device, sample_windows_kernel, allowed, counters, starts, 50, 200, std::uint64_t{5});
    const auto drawn = starts.download();
    for (int w = 0; w < 200; ++w) {
      const int choice = random_words(5, static_cast<int>(iteration), w, Purpose::sampling).below(0, 50);
      REQUIRE(drawn[size(w)] == rows[size(choice)]);
      seen.insert(drawn[size(w)]);
    }
  }
  REQUIRE(seen.size() == 50);
}

TEST_CASE("kernel_windows: a window holds its rows, a last one of nothing, and each label behind its step") {
  ON_EVERY_DEVICE(device);
  Random random(320);
  for (const auto& [rows, windows, steps] :
       {std::tuple{9, 1, 1}, std::tuple{50, 7, 8}, std::tuple{301, 40, 31}, std::tuple{4000, 101, 33}}) {
    const auto features = random.floats(size(rows * 40), -1.0f, 1.0f), seconds = random.floats(size(rows), 0.0f, 3.0f);
    std::vector<std::uint8_t> labels(size(rows * 5));
    for (auto& label : labels) label = static_cast<std::uint8_t>(random.integer(0, 2));
    const auto begin = random.integers(size(windows), 0, rows - steps);
    const TestBuffer<float> table(device, features), times(device, seconds);
    const TestBuffer<std::uint8_t> known(device, labels);
    const TestBuffer<std::int32_t> starts(device, begin);
    const int length = steps + 1;
    TestBuffer<float> x(device, size(windows * length * 40)), dt(device, size(windows * length));
    TestBuffer<std::uint8_t> y(device, size(windows * length * 5));
    launch_guarded(device, gather_windows_kernel, table, times, known, starts, x, dt, y, rows, windows, steps);
    const auto got_x = x.download(), got_dt = dt.download();
    const auto got_y = y.download();
    int wrong = 0;
    for (int w = 0; w < windows; ++w)
      for (int s = 0; s <= steps; ++s) {
        const int row = begin[size(w)] + s, at = w * length + s;
        wrong += got_dt[size(at)] != (s < steps ? seconds[size(row)] : 0.0f);
        for (int c = 0; c < 40; ++c)
          wrong += got_x[size(at * 40 + c)] != (s < steps ? features[size(row * 40 + c)] : 0.0f);
        for (int z = 0; z < 5; ++z)
          wrong += got_y[size(at * 5 + z)] != (s > 0 ? labels[size((row - 1) * 5 + z)] : no_label);
      }
    CAPTURE(rows, windows, steps);
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("kernel_windows: a window that leaves the table is zeros and no labels there") {
  ON_EVERY_DEVICE(device);
  const TestBuffer<float> table(device, std::vector<float>(3 * 40, 1.0f)), times(device, std::vector<float>(3, 1.0f));
  const TestBuffer<std::uint8_t> known(device, std::vector<std::uint8_t>(15, 1));
  const TestBuffer<std::int32_t> starts(device, std::vector<std::int32_t>{1, -2});
  TestBuffer<float> x(device, 2 * 5 * 40), dt(device, 10);
  TestBuffer<std::uint8_t> y(device, 50);
  launch_guarded(device, gather_windows_kernel, table, times, known, starts, x, dt, y, 3, 2, 4);
  REQUIRE(dt.download() == std::vector<float>{1, 1, 0, 0, 0, 0, 0, 1, 1, 0});
  const auto labels = y.download();
  for (int at = 0; at < 10; ++at)
    REQUIRE(labels[size(at * 5)] == (at == 1 || at == 2 || at == 8 || at == 9 ? 1 : no_label));
}

TEST_CASE("kernel_windows: windows in order go around the ring, and carry a state only to where one follows on") {
  ON_EVERY_DEVICE(device);
  Random random(321);
  constexpr int steps = 3, hidden = 6;
  for (const auto& [count, windows] : {std::pair{1, 1}, std::pair{7, 3}, std::pair{100, 13}, std::pair{5, 9}}) {
    std::vector<std::int32_t> rows;
    std::vector<std::uint8_t> continues;
    for (int i = 0; i < count; ++i) rows.push_back(10 * i + 1), continues.push_back(random.integer(0, 1) == 1);
    const auto states = random.floats(size(windows * (steps + 1) * hidden), -1.0f, 1.0f);
    const TestBuffer<std::int32_t> ring(device, rows);
    const TestBuffer<std::uint8_t> follows(device, continues);
    const TestBuffer<float> state(device, states);
    for (const std::uint32_t iteration : {0u, 1u, 41u, 0xffffffffu}) {
      TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, iteration}}));
      TestBuffer<std::int32_t> starts(device, size(windows));
      TestBuffer<float> initial(device, size(windows * hidden));
      launch_guarded(device, next_windows_kernel, ring, follows, counters, state, starts, initial, count, windows,
                     steps, hidden);
      const auto next = starts.download();
      const auto carried = initial.download();
      int wrong = 0;
      for (int w = 0; w < windows; ++w) {
        const std::size_t place = (size(w) * size(count) / size(windows) + iteration + 1) % size(count);
        wrong += next[size(w)] != rows[place];
        for (int j = 0; j < hidden; ++j) {
          const float last = states[size((w * (steps + 1) + steps) * hidden + j)];
          wrong += carried[size(w * hidden + j)] != (continues[place] ? last : 0.0f);
        }
      }
      CAPTURE(count, windows, iteration);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("kernel_windows: a state that is not finite is not carried on") {
  ON_EVERY_DEVICE(device);
  const TestBuffer<std::int32_t> ring(device, std::vector<std::int32_t>{0, 1});
  const TestBuffer<std::uint8_t> follows(device, std::vector<std::uint8_t>{1, 1});
  const TestBuffer<float> state(device, std::vector<float>{9, 9, 9, NAN, INFINITY, 0.5f});
  TestBuffer<std::uint32_t> counters(device, counters_with({}));
  TestBuffer<std::int32_t> starts(device, 1);
  TestBuffer<float> initial(device, 3);
  launch_guarded(device, next_windows_kernel, ring, follows, counters, state, starts, initial, 2, 1, 1, 3);
  REQUIRE(initial.download() == std::vector<float>{0.0f, 0.0f, 0.5f});
}

TEST_CASE("kernel_windows: a trunk of one cell has windows too") {
  ON_EVERY_DEVICE(device);
  const TestBuffer<std::int32_t> ring(device, std::vector<std::int32_t>{10, 20, 30});
  const TestBuffer<std::uint8_t> follows(device, std::vector<std::uint8_t>{1, 0, 1});
  const TestBuffer<float> state(device, std::vector<float>{9, 0.25f, 9, 0.5f});
  TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, 1}}));
  TestBuffer<std::int32_t> starts(device, 2);
  TestBuffer<float> initial(device, 2);
  launch_guarded(device, next_windows_kernel, ring, follows, counters, state, starts, initial, 3, 2, 1, 1);
  REQUIRE(starts.download() == std::vector<std::int32_t>{30, 10});
  REQUIRE(initial.download() == std::vector<float>{0.25f, 0.5f});
}
