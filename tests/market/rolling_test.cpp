#include "core/market/rolling.h"

#include <cmath>
#include <random>

#include "tests/market/market_test.h"

namespace foxhunt::market {

TEST_CASE("features: rolling windows agree with summing each window anew") {
  std::mt19937_64 random(test::seed());
  Series x(1000);
  for (double& value : x) value = static_cast<double>(random() % 2001) - 1000;  // whole numbers: sums are exact
  const std::vector<Run> runs{{0, 1}, {1, 400}, {400, 407}, {407, 1000}};
  for (const std::size_t window : {1, 2, 7, 60, 240, 2000}) {
    const Series sum = rolling_sum(x, window, runs), top = rolling_max(x, window, runs),
                 bottom = rolling_min(x, window, runs);
    const Series mean = rolling_mean(x, window, runs);
    for (const Run& run : runs)
      for (std::size_t i = run.begin; i < run.end; ++i) {
        const std::size_t first = i + 1 - std::min(window, i + 1 - run.begin);
        const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first),
                   end = x.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        double expected = 0;
        for (auto at = begin; at != end; ++at) expected += *at;
        REQUIRE(sum[i] == expected);
        REQUIRE(mean[i] == expected / static_cast<double>(end - begin));
        REQUIRE(top[i] == *std::max_element(begin, end));
        REQUIRE(bottom[i] == *std::min_element(begin, end));
      }
  }
}

TEST_CASE("features: rolling sums do not drift") {
  std::mt19937_64 random(test::seed());
  Series x(200'000);
  for (std::size_t i = 0; i + 100 < x.size(); ++i)
    x[i] = std::ldexp(static_cast<double>(random() % 1000), static_cast<int>(random() % 40));
  const Series sum = rolling_sum(x, 100, {{0, x.size()}});
  REQUIRE(sum.back() == 0);
  REQUIRE(sum[x.size() - 101] > 0);
}

}  // namespace foxhunt::market
