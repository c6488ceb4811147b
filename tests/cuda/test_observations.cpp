// What the network sees, and the actions taken from what it answers.
#include "tests/cuda/market_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Inputs of gather_observations_kernel whose every number tells where it comes from.
struct Observations {
  int episodes = 3, batch = 4, length = 5, features = 7, rows = 11;
  std::uint32_t iteration = 0;
  std::vector<float> table, portfolio;
  std::vector<std::int32_t> row, index, next;

  explicit Observations(Random& random) { fill(random); }
  void fill(Random& random) {
    const auto leaves = static_cast<std::size_t>(episodes * length);
    table.clear();
    portfolio.clear();
    for (int i = 0; i < rows * features; ++i) table.push_back(static_cast<float>(i));
    for (std::size_t i = 0; i < leaves * portfolio_width; ++i) portfolio.push_back(-1.0f - static_cast<float>(i));
    row = random.integers(leaves, 0, rows - 1);
    index = random.integers(static_cast<std::size_t>(batch), 0, episodes * length - 1);
    next = random.integers(static_cast<std::size_t>(batch), 0, episodes * length - 1);
  }
  int width() const { return features + portfolio_width; }

  struct Gathered {
    std::vector<float> observation;
    std::uint32_t nonfinite, mask;
  };
  Gathered gather(Device& device) const {
    const TestBuffer<float> features_by_row(device, table), numbers(device, portfolio);
    const TestBuffer<std::int32_t> rows_by_leaf(device, row), sampled(device, index), bootstrap(device, next);
    TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, iteration}}));
    TestBuffer<float> observation(device, static_cast<std::size_t>((episodes + 2 * batch) * width()));
    launch_guarded(device, gather_observations_kernel, features_by_row, rows_by_leaf, numbers, sampled, bootstrap,
                   counters, observation, episodes, batch, length, features, rows);
    REQUIRE(observation.unwritten() == 0);
    return {observation.download(), counters.at(counter_nonfinite), counters.at(counter_nonfinite_mask)};
  }

  /// Whether observation i is that of a leaf: the table's row and the leaf's portfolio, bit for bit.
  bool is_of(const std::vector<float>& observation, int i, int leaf) const {
    const auto at = observation.begin() + i * width();
    const auto from = table.begin() + row[static_cast<std::size_t>(leaf)] * features;
    return std::equal(at, at + features, from) &&
           std::equal(at + features, at + width(), portfolio.begin() + leaf * portfolio_width);
  }
};

struct Selected {
  std::vector<std::int32_t> action;
  std::vector<std::uint32_t> counters;
};

Selected select(Device& device, const std::vector<float>& q, int actions, float epsilon, std::uint64_t seed = 9,
                std::uint32_t iteration = 3) {
  const int episodes = static_cast<int>(q.size()) / actions;
  const TestBuffer<float> values(device, q), isv(device, isv_with({{isv_epsilon, epsilon}}));
  TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, iteration}}));
  TestBuffer<std::int32_t> action(device, static_cast<std::size_t>(episodes));
  launch_guarded(device, select_actions_kernel, values, isv, counters, action, episodes, actions, seed);
  REQUIRE(action.unwritten() == 0);
  return {action.download(), counters.download()};
}

/// The kernel's counts of actions taken.
std::vector<std::uint32_t> counted(const Selected& selected) {
  return {selected.counters.begin() + counter_first_action, selected.counters.end()};
}

}  // namespace

TEST_CASE("kernel_environment: observations are those of the running, the sampled and the bootstrap steps") {
  ON_EVERY_DEVICE(device);
  Random random(130);
  for (const auto& [episodes, batch, length, features, rows] :
       {std::tuple{3, 4, 5, 7, 11}, std::tuple{1, 1, 2, 1, 1}, std::tuple{130, 70, 3, 40, 997},
        std::tuple{5, 0, 4, 3, 20}, std::tuple{2001, 1003, 2, 60, 50}}) {
    Observations in(random);
    in.episodes = episodes, in.batch = batch, in.length = length, in.features = features, in.rows = rows;
    in.fill(random);
    for (const std::uint32_t iteration : {0u, 1u, 7u}) {
      in.iteration = iteration;
      const auto [observation, nonfinite, mask] = in.gather(device);
      const int slot = static_cast<int>(iteration) % length;
      int wrong = 0;
      for (int e = 0; e < episodes; ++e) wrong += !in.is_of(observation, e, slot * episodes + e);
      for (int b = 0; b < batch; ++b) {
        wrong += !in.is_of(observation, episodes + b, in.index[static_cast<std::size_t>(b)]);
        wrong += !in.is_of(observation, episodes + batch + b, in.next[static_cast<std::size_t>(b)]);
      }
      CAPTURE(episodes, batch, length, features, iteration);
      REQUIRE(wrong == 0);
      REQUIRE(nonfinite == 0);
    }
  }
}

TEST_CASE("kernel_environment: features and portfolio numbers that are not finite are counted by kind") {
  ON_EVERY_DEVICE(device);
  Random random(131);
  Observations in(random);
  in.row.assign(in.row.size(), 2);
  in.row[0] = 5;  // leaf 0 alone looks at row 5
  in.index = {3, 4, 5, 6};
  in.next = {3, 4, 5, 6};
  in.table[5 * 7 + 1] = NAN;
  auto out = in.gather(device);
  REQUIRE(out.nonfinite == 1);
  REQUIRE(out.mask == nonfinite_feature);
  REQUIRE(std::isnan(out.observation[1]));
  in.portfolio[1 * portfolio_width + 7] = INFINITY;
  out = in.gather(device);
  REQUIRE(out.nonfinite == 2);
  REQUIRE(out.mask == (nonfinite_feature | nonfinite_portfolio));
}

TEST_CASE("kernel_environment: a row beyond the table gives zeros") {
  ON_EVERY_DEVICE(device);
  Random random(132);
  Observations in(random);
  in.row[1] = in.rows;
  const auto out = in.gather(device);
  for (int c = 0; c < in.features; ++c) REQUIRE(out.observation[static_cast<std::size_t>(in.width() + c)] == 0.0f);
  REQUIRE(out.nonfinite == 0);
}

TEST_CASE("kernel_environment: without exploration the first of the best actions is taken") {
  ON_EVERY_DEVICE(device);
  Random random(133);
  for (const int actions : {1, 2, 5, 32}) {
    const int episodes = 1013;
    std::vector<float> q = random.whole(static_cast<std::size_t>(episodes * actions), -3, 3);  // with many ties
    const Selected selected = select(device, q, actions, 0.0f);
    std::vector<std::uint32_t> expected(max_actions, 0);
    for (int e = 0; e < episodes; ++e) {
      const auto first = q.begin() + e * actions;
      const auto best = std::max_element(first, first + actions) - first;
      REQUIRE(selected.action[static_cast<std::size_t>(e)] == best);
      ++expected[static_cast<std::size_t>(best)];
    }
    REQUIRE(counted(selected) == expected);
    REQUIRE(selected.counters[counter_nonfinite] == 0);
  }
}

TEST_CASE("kernel_environment: with full exploration actions are uniform") {
  ON_EVERY_DEVICE(device);
  for (const int actions : {2, 5, 32}) {
    const int episodes = 20011;
    std::vector<float> q(static_cast<std::size_t>(episodes * actions), 0.0f);
    for (int e = 0; e < episodes; ++e) q[static_cast<std::size_t>(e * actions + actions - 1)] = 9.0f;
    const Selected selected = select(device, q, actions, 1.0f);
    const std::vector<std::uint32_t> counts = counted(selected);
    std::uint32_t all = 0;
    double chi_square = 0.0;
    for (int a = 0; a < max_actions; ++a) {
      const std::uint32_t count = counts[static_cast<std::size_t>(a)];
      all += count;
      const auto listed = std::count(selected.action.begin(), selected.action.end(), a);
      REQUIRE(static_cast<std::uint32_t>(listed) == count);
      if (a < actions) chi_square += std::pow(count - static_cast<double>(episodes) / actions, 2) * actions / episodes;
    }
    const double freedom = actions - 1.0;
    CAPTURE(actions, chi_square);
    REQUIRE(all == static_cast<std::uint32_t>(episodes));
    REQUIRE(chi_square < freedom + 6.0 * std::sqrt(2.0 * freedom));
  }
}

TEST_CASE("kernel_environment: epsilon is the share of random actions, drawn anew every step") {
  ON_EVERY_DEVICE(device);
  const int episodes = 40000, actions = 4;
  std::vector<float> q(static_cast<std::size_t>(episodes * actions), 0.0f);
  for (std::size_t i = 0; i < q.size(); i += 4) q[i + 2] = 1.0f;
  const Selected selected = select(device, q, actions, 0.3f);
  // A random action is the greedy one once in four times.
  const double greedy = counted(selected)[2] / static_cast<double>(episodes);
  REQUIRE(std::fabs(greedy - (0.7 + 0.3 / 4)) < 0.01);
  REQUIRE(select(device, q, actions, 0.3f).action == selected.action);
  REQUIRE(select(device, q, actions, 0.3f, 9, 4).action != selected.action);
  REQUIRE(select(device, q, actions, 0.3f, 10, 3).action != selected.action);
}

TEST_CASE("kernel_environment: an episode whose Q is not finite is counted and still acts") {
  ON_EVERY_DEVICE(device);
  for (const float bad : {NAN, INFINITY, -INFINITY})
    for (const std::size_t at : {3u, 4u, 5u}) {
      std::vector<float> q(12, 0.5f);
      q[at] = bad;
      const Selected selected = select(device, q, 3, 0.0f);
      REQUIRE(selected.counters[counter_nonfinite] == 1);
      REQUIRE(selected.counters[counter_nonfinite_mask] == nonfinite_q_value);
      for (const std::int32_t a : selected.action) REQUIRE((a >= 0 && a < 3));
    }
}

TEST_CASE("kernel_environment: a Q that is not finite is noticed wherever it stands") {
  ON_EVERY_DEVICE(device);
  for (std::size_t at = 0; at < 12; ++at) {
    std::vector<float> q(12, 0.5f);
    q[at] = NAN;
    CAPTURE(at);
    REQUIRE(select(device, q, 3, 0.0f).counters[counter_nonfinite] == 1);
  }
}

TEST_CASE("kernel_environment: what starts an episode does not decide its exploration") {
  ON_EVERY_DEVICE(device);
  Market market = es_market(std::vector<float>(9, 4000.0f), std::vector<float>(9, 4000.0f));
  market.starts = {0, 1};
  EnvironmentParams params = plain_environment();
  params.step_limit = 1;
  constexpr int episodes = 2000;
  Simulation simulation(device, market, params, episodes, 4);
  std::vector<float> q(2 * episodes, 0.0f);
  const TestBuffer<float> values(device, q), isv(device, isv_with({{isv_epsilon, 0.5f}}));
  // Of q all alike action 0 is the best, so action 1 is chosen by exploring alone: a quarter of the time.
  const auto agreement = [&](std::uint32_t iteration, const std::vector<std::int32_t>& rows) {
    TestBuffer<std::uint32_t> counters(device, counters_with({{counter_iteration, iteration}}));
    TestBuffer<std::int32_t> action(device, std::size_t{episodes});
    launch_guarded(device, select_actions_kernel, values, isv, counters, action, episodes, 2, params.seed);
    const auto actions = action.download();
    int explored_from_first = 0;
    for (std::size_t e = 0; e < episodes; ++e) explored_from_first += actions[e] == 1 && rows[e] == 0;
    return explored_from_first;
  };
  const auto started = simulation.row.download();
  REQUIRE(std::abs(agreement(0, {started.begin(), started.begin() + episodes}) - episodes / 8) < 80);
  simulation.step_all(flat);
  simulation.step_all(flat);
  std::vector<std::int32_t> anew;
  for (const Step& step : simulation.last()) anew.push_back(step.next_row);
  REQUIRE(std::abs(agreement(2, anew) - episodes / 8) < 80);
}

TEST_CASE("kernel_environment: an epsilon of zero explores never, even where the draw is zero") {
  ON_EVERY_DEVICE(device);
  // Under this seed episode 0 of iteration 3 draws a zero, one in 2^24, and would explore action 20.
  const Selected selected = select(device, std::vector<float>(32, 0.0f), 32, 0.0f, 9184431);
  REQUIRE(selected.action[0] == 0);
  REQUIRE(select(device, std::vector<float>(32, 0.0f), 32, 1e-30f, 9184431).action[0] == 20);
}
