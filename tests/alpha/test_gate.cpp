#include "core/alpha/gate.h"

#include <cmath>
#include <iostream>
#include <random>

#include "core/market/reader.h"
#include "core/market/synth.h"
#include "tests/alpha/books_fixture.h"
#include "tests/rounds.h"

namespace foxhunt::alpha {
namespace {

constexpr std::array<std::int64_t, alpha_horizons> horizon_rows{1, 5, 20, 50, 100};

/// A stream of predictions of a made-up market: a hidden pressure that lasts `memory` rows in the mean, a mid that
/// moves on one row of five, with it as often as (1 + edge) / 2, and probabilities that lean by `lean` with the
/// pressure. Labels overlap, and so do the errors of what was predicted.
struct Stream {
  std::vector<float> probability;
  std::vector<std::uint8_t> label;

  Stream(std::uint64_t seed, std::size_t rows, double edge, double lean, double memory) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform;
    std::vector<std::int64_t> mid(rows);
    int pressure = 1;
    for (std::size_t i = 0; i < rows; ++i) {
      if (uniform(random) < 1 / memory) pressure = uniform(random) < 0.5 ? 1 : -1;
      const int step = uniform(random) < (1 + edge) / 2 ? pressure : -pressure;
      if (i + 1 < rows) mid[i + 1] = mid[i] + (uniform(random) < 0.2 ? step : 0);
      for (std::size_t h = 0; h < alpha_horizons; ++h)
        probability.push_back(static_cast<float>(0.5 + lean * pressure + 0.02 * (uniform(random) - 0.5)));
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t h = 0; h < alpha_horizons; ++h) label.push_back(label_of(mid, i, h));
  }

  HeldOut held_out() const {
    HeldOut held;
    held.probability = probability, held.label = label;
    held.base_rate.fill(0.5);
    for (std::size_t h = 0; h < alpha_horizons; ++h) {
      held.label_rows[h] = static_cast<double>(horizon_rows[h]);
      held.horizon[h] = Horizon{horizon_rows[h], 0}.text();
    }
    return held;
  }

 private:
  static std::uint8_t label_of(const std::vector<std::int64_t>& mid, std::size_t i, std::size_t h) {
    const std::size_t target = i + static_cast<std::size_t>(horizon_rows[h]);
    if (target >= mid.size() || mid[target] == mid[i]) return no_label;
    return mid[target] > mid[i];
  }
};

GateOptions fast() {
  GateOptions options;
  options.resamples = 500;
  return options;
}

/// The gate's answer to the side of the larger best size as a probability, on the test split.
GateResult judge_imbalance(const market::Books& books, double lean) {
  DatasetOptions options;
  options.horizons = in_rows({1, 5, 10, 20, 50});
  options.contract = market::contract_for("ES");
  const Dataset data = make_dataset(books, options);
  std::vector<float> probability;
  for (std::int64_t row = data.splits.test.begin; row < data.splits.test.end; ++row) {
    const Mbp10Level& best = data.input[static_cast<std::size_t>(row)].level[0];
    const double up = best.bid_size > best.ask_size ? 1 : -1;
    probability.insert(probability.end(), alpha_horizons, static_cast<float>(0.5 + lean * up));
  }
  return judge(held_out(data, data.splits.test, probability), fast());
}

}  // namespace

TEST_CASE("gate: predictions of nothing do not pass, however long they last") {
  int passes = 0, bounds = 0, seeds = 0;
  const int streams = static_cast<int>(test::rounds(std::vector<int>(40)).size());  // of each kind
  double outside = 0, squares = 0, judged = 0;
  for (const double memory : {1.0, 50.0, 400.0})
    for (const double lean : {0.001, 0.05})
      for (int i = 0; i < streams; ++i, ++seeds) {
        const Stream stream(test::seed() * 1000 + static_cast<std::uint64_t>(seeds), 5000, 0, lean, memory);
        const GateResult result = judge(stream.held_out(), fast());
        passes += result.passed();
        for (const HorizonGate& gate : result.horizons) {
          bounds += gate.auc_low > 0.5;
          if (gate.independent_labels <= result.options.min_independent_labels) continue;
          const double z = (gate.auc - 0.5) / gate.auc_error;
          outside += std::abs(z) > 1.96, squares += z * z, ++judged;
        }
      }
  std::cout << seeds << " streams of nothing: " << passes << " passes, " << bounds << " bounds above 0.5; of " << judged
            << " AUCs " << outside / judged << " lie 1.96 errors off, mean square " << squares / judged << "\n";
  INFO("seed " << test::seed());
  REQUIRE(seeds == 6 * streams);
  REQUIRE(passes == 0);
  REQUIRE(outside / judged < 0.12);  // 0.05 where errors are exact; they come a little short of it for long blocks
  REQUIRE(squares / judged < 1.6);
  REQUIRE(squares / judged > 0.7);
}

TEST_CASE("gate: predictions of what is there pass") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Stream stream(test::seed() * 1000 + seed, 5000, 0.4, 0.15, 50);
    const GateResult result = judge(stream.held_out(), fast());
    INFO("seed " << test::seed() * 1000 + seed << "\n" << result.words().back());
    REQUIRE(result.passed());
    REQUIRE(result.horizons[0].auc > 0.62);
    REQUIRE(result.horizons[0].passed());
  }
}

TEST_CASE("gate: the edge of a generated market passes, a walk of the same books does not") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    market::SynthOptions market;
    market.seed = test::seed() + seed, market.sessions = 6, market.rows = 5000;
    market.strength = 0.5;
    const GateResult edge = judge_imbalance(synthesize_books(market), 0.15);
    market.kind = market::MarketKind::walk, market.strength.reset();
    const GateResult walk = judge_imbalance(synthesize_books(market), 0.01);
    INFO("seed " << market.seed << "\n" << edge.words().back() << "\n" << walk.words().back());
    REQUIRE(edge.passed());
    REQUIRE_FALSE(walk.passed());
  }
}

TEST_CASE("gate: the bundled books carry an edge at every horizon") {
  const market::Books books =
      market::read_books(test::source_dir() / "test_data" / "alpha-baseline" / "es-baseline.mbp-10.dbn.zst");
  REQUIRE(books.rows() == 36'000);
  const GateResult result = judge_imbalance(books, 0.2);
  for (const std::string& line : result.words()) std::cout << line << "\n";
  REQUIRE(result.horizons_passed() >= 4);
  for (const HorizonGate& gate : result.horizons) REQUIRE(gate.auc > 0.7);
}

TEST_CASE("gate: each criterion can fail a horizon by itself") {
  const auto failing = [](const Stream& stream, GateOptions options = fast()) {
    std::string names;
    const GateResult result = judge(stream.held_out(), options);
    for (const Criterion& c : result.horizons[1].criteria)
      if (!c.passed()) names += c.name + " ";
    return names;
  };
  Stream good(test::seed(), 5000, 0.4, 0.15, 50);
  CHECK(failing(good) == "");
  GateOptions strict = fast();
  strict.min_auc = 0.99;
  CHECK(failing(good, strict) == "auc ");
  strict = fast(), strict.min_independent_labels = 1e6;
  CHECK(failing(good, strict) == "independent_labels ");
  CHECK(failing(Stream(test::seed(), 5000, 0.4, 0.48, 50)) == "brier log_loss ");  // right, and far too sure
}

TEST_CASE("gate: each horizon is judged by its own predictions and labels") {
  Stream stream(test::seed(), 3000, 0.4, 0.15, 50);
  std::array<std::int64_t, alpha_horizons> labels{};
  for (std::size_t i = 0; i < stream.label.size(); ++i) {
    labels[i % alpha_horizons] += stream.label[i] != no_label;
    if (i % alpha_horizons == 3) stream.probability[i] = 0.5f;
  }
  const GateResult result = judge(stream.held_out(), fast());
  for (std::size_t h = 0; h < alpha_horizons; ++h) {
    REQUIRE(result.horizons[h].labels == labels[h]);
    REQUIRE((result.horizons[h].auc == 0.5) == (h == 3));
    REQUIRE(std::abs(result.horizons[h].base.brier - 0.25) < 1e-12);  // of the base rate one half
  }
  REQUIRE(result.horizons_passed() >= 1);
  REQUIRE_FALSE(result.horizons[3].passed());
}

TEST_CASE("gate: passes with as many horizons as are asked for") {
  const Stream stream(test::seed(), 5000, 0.4, 0.15, 50);
  GateOptions options = fast();
  const int passed = judge(stream.held_out(), options).horizons_passed();
  REQUIRE(passed >= 1);
  options.min_horizons = passed;
  REQUIRE(judge(stream.held_out(), options).passed());
  options.min_horizons = passed + 1;
  REQUIRE_FALSE(judge(stream.held_out(), options).passed());
}

TEST_CASE("gate: the same predictions give the same verdict, in words and as JSON") {
  const Stream stream(test::seed(), 3000, 0.4, 0.15, 50);
  const GateResult result = judge(stream.held_out(), fast());
  const nlohmann::ordered_json json = result.json();
  REQUIRE(json.dump() == judge(stream.held_out(), fast()).json().dump());
  REQUIRE(json["passed"] == result.passed());
  REQUIRE(json["verdict"] == "PASS");
  REQUIRE(json["horizons"].size() == alpha_horizons);
  REQUIRE(json["horizons"][2]["horizon"] == "20 rows");
  REQUIRE(json["horizons"][0]["criteria"].size() == 4);
  REQUIRE(json["horizons"][0]["criteria"][0]["above"] == 0.5);
  REQUIRE(json["horizons"][0]["calibration"].size() == 10);
  REQUIRE(json.dump().find("null") == std::string::npos);
  const std::vector<std::string> words = result.words();
  require_says(words.back(), {"gate: PASS: ", "of 5 horizons", "99.99%"});
  require_says(words[1], {"1 row"});
}

TEST_CASE("gate: an AUC's interval narrows with the data and follows the block length") {
  const GateResult few = judge(Stream(test::seed(), 2000, 0.4, 0.15, 50).held_out(), fast());
  const GateResult many = judge(Stream(test::seed(), 20'000, 0.4, 0.15, 50).held_out(), fast());
  for (std::size_t h = 0; h < 3; ++h) {
    CHECK(many.horizons[h].auc_error < few.horizons[h].auc_error);
    CHECK(many.horizons[h].auc_low < many.horizons[h].auc);
    CHECK(many.horizons[h].auc_high > many.horizons[h].auc);
  }
  CHECK(many.horizons[0].block == 50);
  CHECK(many.horizons[4].block == 400);
  CHECK(few.horizons[4].block == 200);  // ten blocks at least
}

TEST_CASE("gate: what is no probability, or has one class, is refused") {
  const Stream good(test::seed(), 1000, 0.4, 0.15, 50);
  for (const float bad : {NAN, -0.1f, 1.5f, INFINITY}) {
    Stream stream = good;
    stream.probability[777 * alpha_horizons + 3] = bad;
    require_says(error_of(ExitCode::numerics, [&] { judge(stream.held_out(), fast()); }), {"row 777", "50 rows"});
  }
  Stream ups = good;
  for (std::uint8_t& label : ups.label)
    if (label == 0) label = no_label;
  require_says(error_of(ExitCode::data, [&] { judge(ups.held_out(), fast()); }), {"both classes"});
}

}  // namespace foxhunt::alpha
