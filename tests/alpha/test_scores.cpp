// What the gate's verdict is made of: AUC, its bootstrap, proper scores.
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/alpha/auc.h"
#include "core/alpha/block_bootstrap.h"
#include "core/alpha/calibration.h"
#include "tests/catch.h"

namespace foxhunt::alpha {
namespace {

struct Scored {
  std::vector<float> score;
  std::vector<std::uint8_t> label;
};

/// Scores of a few values, so that many tie; one label in five is masked.
Scored random_scores(std::mt19937_64& random, std::size_t rows) {
  Scored made;
  for (std::size_t i = 0; i < rows; ++i) {
    made.label.push_back(random() % 5 == 0 ? 255 : static_cast<std::uint8_t>(random() % 2));
    made.score.push_back(static_cast<float>(random() % 20 + (made.label.back() == 1 ? 3 : 0)) / 23);
  }
  return made;
}

/// Of all pairs of an up and a down, the share in which the up is scored higher.
double auc_of_pairs(const Scored& s, const std::vector<std::uint32_t>& weight) {
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < s.score.size(); ++i)
    for (std::size_t j = 0; j < s.score.size(); ++j) {
      if (s.label[i] != 1 || s.label[j] != 0) continue;
      const double both = static_cast<double>(weight[i]) * weight[j];
      won += both * (s.score[i] > s.score[j] ? 1 : s.score[i] == s.score[j] ? 0.5 : 0), pairs += both;
    }
  return won / pairs;
}

double sample_mean(std::span<const double> x, std::span<const std::uint32_t> weight) {
  double sum = 0, n = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * weight[i], n += weight[i];
  return sum / n;
}

}  // namespace

TEST_CASE("auc: is the share of pairs that are ordered rightly, ties a half") {
  for (std::uint64_t round = 0; round < 10; ++round) {
    std::mt19937_64 random(test::seed() + round);
    const Scored s = random_scores(random, 200);
    const AucCounter counter(s.score, s.label);
    INFO("seed " << test::seed() + round);
    CHECK(std::abs(counter.auc() - auc_of_pairs(s, std::vector<std::uint32_t>(200, 1))) < 1e-12);
    std::vector<std::uint32_t> weight(200);
    for (std::uint32_t& w : weight) w = static_cast<std::uint32_t>(random() % 4);
    CHECK(std::abs(counter.auc(weight) - auc_of_pairs(s, weight)) < 1e-12);
  }
}

TEST_CASE("auc: perfect, reversed, constant and of one class") {
  const std::vector<std::uint8_t> label{0, 1, 0, 1, 1};
  const auto auc = [&](std::vector<float> score) { return AucCounter(score, label).auc(); };
  REQUIRE(auc({0.1f, 0.9f, 0.2f, 0.8f, 0.7f}) == 1.0);
  REQUIRE(auc({0.9f, 0.1f, 0.8f, 0.2f, 0.3f}) == 0.0);
  REQUIRE(auc({0.4f, 0.4f, 0.4f, 0.4f, 0.4f}) == 0.5);
  const std::vector<std::uint8_t> ups{1, 1, 255}, none;
  REQUIRE(std::isnan(AucCounter(std::vector<float>{0.1f, 0.2f, 0.3f}, ups).auc()));
  REQUIRE(std::isnan(AucCounter({}, none).auc()));
}

TEST_CASE("auc: of one column among several") {
  const std::vector<float> score{0.1f, 0.9f, 0.2f, 0.1f, 0.3f, 0.5f};
  const std::vector<std::uint8_t> label{0, 1, 0, 1, 1, 0};
  REQUIRE(AucCounter(score, label, 2).auc() == 1.0);                                              // 0.1 0.2 0.3: 0 0 1
  REQUIRE(AucCounter(std::span(score).subspan(1), std::span(label).subspan(1), 2).auc() == 0.5);  // 0.9 0.1 0.5: 1 1 0
}

TEST_CASE("bootstrap: a resample has as many rows, in blocks, and every row may come") {
  std::vector<double> drawn(103, 0);
  const BlockBootstrap bootstrap{103, 10, 4000, test::seed()};
  std::size_t wrong = 0;
  bootstrap_error(bootstrap, [&](std::span<const std::uint32_t> weight) {
    wrong += std::accumulate(weight.begin(), weight.end(), 0U) != 103;
    std::size_t starts = 0;  // a weight rises where blocks begin: 11 of them
    for (std::size_t i = 0; i < 103; ++i) {
      const std::uint32_t before = weight[(i + 102) % 103];
      starts += weight[i] > before ? weight[i] - before : 0;
      drawn[i] += weight[i];
    }
    wrong += starts > 11;
    return 0.0;
  });
  REQUIRE(wrong == 0);
  for (const double times : drawn) REQUIRE(std::abs(times / 4000 - 1) < 0.2);  // four standard errors and more
}

TEST_CASE("bootstrap: the error of a mean, of what is independent and of what is not") {
  std::mt19937_64 random(test::seed());
  std::normal_distribution<double> normal;
  const std::size_t rows = 20'000;
  std::vector<double> white(rows), slow(rows);
  double state = 0;
  for (std::size_t i = 0; i < rows; ++i) white[i] = normal(random), slow[i] = state = 0.9 * state + normal(random);
  const auto error = [&](const std::vector<double>& x, std::int64_t block) {
    return bootstrap_error({static_cast<std::int64_t>(rows), block, 1000, 3},
                           [&](std::span<const std::uint32_t> weight) { return sample_mean(x, weight); });
  };
  const double root = std::sqrt(static_cast<double>(rows));
  INFO("seed " << test::seed() << ": " << error(white, 20) * root << " " << error(slow, 200) * root);
  CHECK(std::abs(error(white, 20) * root - 1) < 0.15);
  CHECK(std::abs(error(slow, 200) * root - 10) < 2.5);  // 1 / (1 - 0.9)
  CHECK(error(slow, 1) * root < 3);                     // blocks of one row know nothing of it
  CHECK(error(white, 20) == error(white, 20));
}

TEST_CASE("bootstrap: a resample without a value is drawn again") {
  int calls = 0;
  const double error = bootstrap_error({50, 5, 200, test::seed()}, [&](std::span<const std::uint32_t> weight) {
    ++calls;
    return weight[0] ? static_cast<double>(weight[0]) : std::nan("");
  });
  REQUIRE(calls > 220);
  REQUIRE(error > 0.1);
}

TEST_CASE("bootstrap: quantiles of Student's t are those of the tables") {
  CHECK(student_t_quantile(0.025, 10) == Approx(2.228).margin(0.002));
  CHECK(student_t_quantile(0.005, 30) == Approx(2.750).margin(0.002));
  CHECK(student_t_quantile(0.0005, 10) == Approx(4.587).epsilon(0.01));
  CHECK(student_t_quantile(0.0005, 1e9) == Approx(3.2905).margin(0.001));
}

TEST_CASE("calibration: scores and bins of known probabilities") {
  const std::vector<float> p{0.05f, 0.05f, 0.95f, 0.95f, 1.0f, 0.5f};
  const std::vector<std::uint8_t> y{0, 1, 1, 1, 1, 255};
  const Calibration c = calibrate(p, y);
  REQUIRE(c.labels == 5);
  REQUIRE(c.up == 4);
  CHECK(c.brier == Approx((0.0025 + 0.9025 + 2 * 0.0025) / 5).epsilon(1e-5));
  CHECK(c.log_loss == Approx(-(3 * std::log(0.95) + std::log(0.05)) / 5).epsilon(1e-5));
  CHECK(c.bins[0].labels == 2);
  CHECK(c.bins[0].observed == 0.5);
  CHECK(c.bins[9].labels == 3);
  CHECK(c.bins[9].probability == Approx(2.9 / 3).epsilon(1e-5));
  CHECK(c.calibration_error == Approx((0.9 + 0.1) / 5).epsilon(1e-5));
  CHECK(std::isfinite(calibrate(std::vector<float>{0.0f}, std::vector<std::uint8_t>{1}).log_loss));
}

TEST_CASE("calibration: a constant scores as so many equal probabilities do") {
  const std::vector<float> p(7, 0.3f);
  const std::vector<std::uint8_t> y{1, 0, 0, 1, 0, 0, 0};
  const Calibration each = calibrate(p, y), whole = calibrate_constant(0.3f, 7, 2);
  CHECK(whole.brier == Approx(each.brier));
  CHECK(whole.log_loss == Approx(each.log_loss));
  CHECK(whole.calibration_error == Approx(each.calibration_error));
  CHECK(whole.bins[3].labels + whole.bins[2].labels == 7);
}

}  // namespace foxhunt::alpha
