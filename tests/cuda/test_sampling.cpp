// Sums of priorities and draws in proportion to them.
#include <numeric>

#include "tests/cuda/replay_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Around every fan-out of the sums: 32 leaves a group, 1,024 a chunk, 32,768 a super.
const std::vector<int> leaf_counts = {1, 31, 32, 33, 1023, 1024, 1025, 5003, 32767, 32768, 32769, 100003};

double total(const std::vector<float>& x, std::size_t first, std::size_t count) {
  double sum = 0.0;
  for (std::size_t i = first; i < std::min(first + count, x.size()); ++i) sum += x[i];
  return sum;
}

/// Distance between counts and what `share` makes expect, over the bins that expect anything.
double chi_square(const std::vector<int>& counts, const std::vector<float>& share, int draws) {
  const double whole = sum(share);
  double result = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = draws * static_cast<double>(share[i]) / whole;
    if (expected > 0.0) result += std::pow(counts[i] - expected, 2) / expected;
  }
  return result;
}

/// Draws from sums that are so many times what the leaves give: too large at one level, as rounding might leave them.
std::vector<std::int32_t> draw_from(Device& device, const Ring& ring, int draws, float supers_by, float chunks_by,
                                    float groups_by) {
  const auto count = static_cast<std::size_t>(draws);
  PrioritySums sums = sum_priorities(device, ring.priority);
  for (float& v : sums.supers) v *= supers_by;
  for (float& v : sums.chunks) v *= chunks_by;
  for (float& v : sums.groups) v *= groups_by;
  const TestBuffer<float> leaves(device, ring.priority), groups(device, sums.groups), chunks(device, sums.chunks),
      supers(device, sums.supers), rewards(device, ring.reward);
  const TestBuffer<std::int32_t> actions(device, ring.action);
  const TestBuffer<std::uint8_t> ends(device, ring.flags);
  TestBuffer<std::uint32_t> counters(device, counters_with({}));
  TestBuffer<std::int32_t> index(device, count), next(device, count), taken(device, count);
  TestBuffer<float> returns(device, count), discounts(device, count), priorities(device, count);
  launch_guarded(device, sample_transitions_kernel, leaves, groups, chunks, supers, rewards, actions, ends, counters,
                 index, next, taken, returns, discounts, priorities, draws, ring.episodes, ring.length, 1, 1.0f, 5u);
  return index.download();
}

}  // namespace

TEST_CASE("kernel_replay: every sum is that of its leaves") {
  ON_EVERY_DEVICE(device);
  Random random(100);
  for (const int leaves : leaf_counts) {
    CAPTURE(leaves);
    const std::vector<float> priority = random.whole(static_cast<std::size_t>(leaves), 0, 9);
    const PrioritySums sums = sum_priorities(device, priority);  // whole numbers: exact
    for (const auto& [level, size] :
         {std::pair{&sums.groups, 32u}, std::pair{&sums.chunks, 1024u}, std::pair{&sums.supers, 32768u}})
      for (std::size_t i = 0; i < level->size(); ++i)
        if (!((*level)[i] == total(priority, i * size, size))) FAIL("sum " << i << " of " << size);
    REQUIRE(sums.counters == counters_with({}));
  }
}

TEST_CASE("kernel_replay: sums of any numbers are right within rounding and the same every time") {
  ON_EVERY_DEVICE(device);
  Random random(101);
  for (const int leaves : leaf_counts) {
    std::vector<float> priority(static_cast<std::size_t>(leaves));
    for (float& p : priority) p = std::exp(random.uniform(-12.0f, 12.0f));
    const PrioritySums sums = sum_priorities(device, priority), again = sum_priorities(device, priority);
    REQUIRE(same_bits(sums.groups, again.groups));
    REQUIRE(same_bits(sums.chunks, again.chunks));
    REQUIRE(same_bits(sums.supers, again.supers));
    for (std::size_t i = 0; i < sums.supers.size(); ++i) {
      const double expected = total(priority, i * 32768, 32768);
      REQUIRE(std::fabs(sums.supers[i] - expected) < 1e-5 * expected);
    }
  }
}

TEST_CASE("kernel_replay: a priority that is not finite is counted") {
  ON_EVERY_DEVICE(device);
  for (const float bad : {NAN, INFINITY}) {
    std::vector<float> priority(70000, 1.0f);
    priority[40000] = bad;
    const PrioritySums sums = sum_priorities(device, priority);
    REQUIRE(sums.counters[counter_nonfinite] == 1);
    REQUIRE(sums.counters[counter_nonfinite_mask] == nonfinite_priority);
  }
}

TEST_CASE("kernel_replay: in 100,000 draws nothing of priority zero is drawn", "[long]") {
  ON_EVERY_DEVICE(device);
  Random random(102);
  for (const auto& [episodes, length] :
       {std::pair{7, 143}, std::pair{1, 33}, std::pair{64, 600}, std::pair{1000, 70}}) {
    Ring ring(episodes, length);
    for (float& p : ring.priority) p = random.integer(0, 2) == 0 ? std::exp(random.uniform(-8.0f, 8.0f)) : 0.0f;
    ring.priority.front() = ring.priority.back() = 0.0f;
    ring.priority[ring.priority.size() / 2] = 1.0f;
    const Draws draws = ring.draw(device, 100000);
    int zeros = 0;
    for (std::size_t b = 0; b < draws.index.size(); ++b) {
      const auto leaf = static_cast<std::size_t>(draws.index[b]);
      zeros += leaf >= ring.priority.size() || !(ring.priority[leaf] > 0.0f) ||
               !(draws.priorities[b] == ring.priority[leaf]);
    }
    CAPTURE(episodes, length);
    REQUIRE(zeros == 0);
    REQUIRE(draws.counters[counter_min_priority] ==
            std::bit_cast<std::uint32_t>(*std::min_element(draws.priorities.begin(), draws.priorities.end())));
  }
}

TEST_CASE("kernel_replay: every leaf of positive priority is reachable, the last one too", "[long]") {
  ON_EVERY_DEVICE(device);
  for (const auto& [episodes, length] : {std::pair{7, 143}, std::pair{1, 31}, std::pair{3, 11}, std::pair{4, 8},
                                         std::pair{1, 1025}, std::pair{32, 64}}) {
    Ring ring(episodes, length);
    std::fill(ring.priority.begin(), ring.priority.end(), 0.7f);
    const std::vector<int> drawn = counts(ring.draw(device, 100000), ring.priority.size());
    CAPTURE(episodes, length);
    REQUIRE(*std::min_element(drawn.begin(), drawn.end()) > 0);
  }
}

TEST_CASE("kernel_replay: leaves are drawn as often as their priorities say", "[long]") {
  ON_EVERY_DEVICE(device);
  Random random(103);
  constexpr int draws = 200000;
  for (const auto& [episodes, length] : {std::pair{5, 40}, std::pair{40, 41}}) {
    Ring ring(episodes, length);
    for (float& p : ring.priority) p = random.uniform(0.1f, 4.0f);
    const double distance = chi_square(counts(ring.draw(device, draws), ring.priority.size()), ring.priority, draws);
    const double freedom = static_cast<double>(ring.priority.size()) - 1.0;
    CAPTURE(episodes, length, distance);
    REQUIRE(distance < freedom + 5.0 * std::sqrt(2.0 * freedom));
    REQUIRE(distance > freedom - 5.0 * std::sqrt(2.0 * freedom));  // too even would be no random draw
  }
}

TEST_CASE("kernel_replay: supers get their share to within a draw at either end", "[long]") {
  ON_EVERY_DEVICE(device);
  Ring ring(64, 2560);  // 163,840 leaves, five supers
  const float level[] = {1.0f, 0.0f, 0.25f, 3.0f, 0.5f};
  for (std::size_t i = 0; i < ring.priority.size(); ++i) ring.priority[i] = level[i / 32768];
  constexpr int draws = 50000;
  std::vector<int> drawn(5, 0);
  for (const std::int32_t leaf : ring.draw(device, draws).index) ++drawn.at(static_cast<std::size_t>(leaf / 32768));
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i, drawn[i]);
    REQUIRE(std::fabs(drawn[i] - draws * level[i] / 4.75) < 2.0);
  }
}

TEST_CASE("kernel_replay: one positive leaf alone is always drawn", "[long]") {
  ON_EVERY_DEVICE(device);
  Ring ring(50, 4001);  // 200,050 leaves, seven supers
  for (const std::size_t leaf : {std::size_t{0}, std::size_t{31}, std::size_t{32}, std::size_t{32767},
                                 std::size_t{32768}, std::size_t{131075}, ring.priority.size() - 1})
    for (const float priority : {1.0f, 1e-30f, 1e30f}) {
      std::fill(ring.priority.begin(), ring.priority.end(), 0.0f);
      ring.priority[leaf] = priority;
      CAPTURE(leaf, priority);
      REQUIRE(counts(ring.draw(device, 500), ring.priority.size())[leaf] == 500);
    }
}

TEST_CASE("kernel_replay: small priorities behind large ones keep their share", "[long]") {
  ON_EVERY_DEVICE(device);
  // A running sum in float32 over all leaves would step over single ones here: it has reached 3e7, where the next
  // number is 2 away.
  Ring ring(64, 1024);
  for (std::size_t i = 0; i < ring.priority.size(); ++i) ring.priority[i] = i < 32768 ? 1000.0f : 1.0f;
  constexpr int draws = 1000000;
  const std::vector<int> drawn = counts(ring.draw(device, draws), ring.priority.size());
  const int small = std::accumulate(drawn.begin() + 32768, drawn.end(), 0);
  const auto distinct = std::count_if(drawn.begin() + 32768, drawn.end(), [](int n) { return n > 0; });
  REQUIRE(std::fabs(small - draws / 1001.0) < 3.0);
  REQUIRE(distinct > 0.95 * small);
  int odd = 0;
  for (std::size_t i = 32769; i < drawn.size(); i += 2) odd += drawn[i];
  REQUIRE(std::abs(odd - small / 2) < 5 * std::sqrt(small) / 2);
}

TEST_CASE("kernel_replay: a tiny priority next to huge ones costs nobody a draw", "[long]") {
  ON_EVERY_DEVICE(device);
  Ring ring(4, 16);
  for (std::size_t i = 0; i < ring.priority.size(); ++i) ring.priority[i] = i % 2 ? 1e20f : 1e-20f;
  const Draws draws = ring.draw(device, 20000);
  const std::vector<int> drawn = counts(draws, ring.priority.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    CAPTURE(i);
    if (i % 2)
      REQUIRE(drawn[i] > 400);  // of 625 expected
    else
      REQUIRE(drawn[i] <= 1);
  }
}

TEST_CASE("kernel_replay: draws depend on seed and iteration alone") {
  ON_EVERY_DEVICE(device);
  Ring ring(10, 500);
  std::fill(ring.priority.begin(), ring.priority.end(), 1.0f);
  const Draws first = ring.draw(device, 1000, 5), again = ring.draw(device, 1000, 5),
              later = ring.draw(device, 1000, 6);
  REQUIRE(first.index == again.index);
  REQUIRE(first.index != later.index);
  ring.seed += 1;
  REQUIRE(ring.draw(device, 1000, 5).index != first.index);
}

TEST_CASE("kernel_replay: from an empty replay comes a harmless transition") {
  ON_EVERY_DEVICE(device);
  Ring ring(3, 50);
  ring.reward.assign(ring.reward.size(), NAN);
  ring.action.assign(ring.action.size(), 7);
  const Draws draws = ring.draw(device, 100);
  REQUIRE(draws.index == std::vector<std::int32_t>(100, 0));
  REQUIRE(draws.next == std::vector<std::int32_t>(100, 0));
  REQUIRE(draws.action == std::vector<std::int32_t>(100, 0));
  REQUIRE(draws.returns == std::vector<float>(100, 0.0f));
  REQUIRE(draws.discounts == std::vector<float>(100, 0.0f));
  REQUIRE(draws.priorities == std::vector<float>(100, 0.0f));
}

TEST_CASE("kernel_replay: where a target lies beyond the sum, the last positive leaf is drawn, never a zero") {
  ON_EVERY_DEVICE(device);
  for (const auto& [episodes, length] : {std::pair{1, 40}, std::pair{8, 160}, std::pair{64, 640}}) {
    Ring ring(episodes, length);  // 40 leaves; 40 groups; 40 chunks
    const std::size_t count = ring.priority.size();
    for (std::size_t i = 0; i < count; ++i) ring.priority[i] = i % 4 == 0 && i < count * 38 / 40 ? 1.0f : 0.0f;
    for (const auto& [supers, chunks, groups] :
         {std::tuple{4.0f, 1.0f, 1.0f}, std::tuple{4.0f, 4.0f, 1.0f}, std::tuple{4.0f, 4.0f, 4.0f}}) {
      CAPTURE(count, supers, chunks, groups);
      for (const std::int32_t leaf : draw_from(device, ring, 60, supers, chunks, groups)) {
        REQUIRE(leaf >= 0);
        REQUIRE(static_cast<std::size_t>(leaf) < count);
        REQUIRE(ring.priority[static_cast<std::size_t>(leaf)] == 1.0f);
      }
    }
  }
}

TEST_CASE("kernel_replay: a draw stays in the group that was drawn") {
  ON_EVERY_DEVICE(device);
  Ring ring(1, 64);
  for (std::size_t i = 0; i < 64; ++i) ring.priority[i] = i < 32 ? 1.0f : 1e-12f;
  std::vector<int> drawn(32, 0);
  for (const std::int32_t leaf : draw_from(device, ring, 200, 1.0f, 1.0f, 1.0f))
    ++drawn.at(static_cast<std::size_t>(leaf));
  REQUIRE(*std::min_element(drawn.begin(), drawn.end()) > 0);
  for (const std::int32_t leaf : draw_from(device, ring, 200, 4.0f, 4.0f, 4.0f)) REQUIRE(leaf < 32);
}

TEST_CASE("kernel_replay: one block sums several supers in turn") {
  Random random(104);
  const std::vector<float> priority = random.whole(32768 + 1500, 0, 9);
  for (const int threads : host_block_sizes()) {
    const auto device = open_device("host", {.block_threads = threads, .most_blocks = 1});
    const PrioritySums sums = sum_priorities(*device, priority);
    REQUIRE(sums.supers == std::vector<float>{static_cast<float>(total(priority, 0, 32768)),
                                              static_cast<float>(total(priority, 32768, 1500))});
    for (std::size_t i = 0; i < sums.groups.size(); ++i) REQUIRE(sums.groups[i] == total(priority, i * 32, 32));
  }
}

TEST_CASE("kernel_replay: the one leaf of the last super is drawn, and small priorities as often as large ones",
          "[long]") {
  ON_EVERY_DEVICE(device);
  Ring ring(1, 32769);
  ring.priority.back() = 1.0f;
  REQUIRE(counts(ring.draw(device, 10), ring.priority.size()).back() == 10);
  ring.priority.front() = ring.priority.back() = 1e-6f;
  REQUIRE(counts(ring.draw(device, 10), ring.priority.size()).front() == 5);
}

TEST_CASE("kernel_replay: a batch of one is drawn from everywhere", "[long]") {
  ON_EVERY_DEVICE(device);
  Ring ring(2, 32768);  // two supers
  for (const std::size_t leaf : {0u, 32767u, 32768u, 65535u}) ring.priority[leaf] = 1.0f;
  std::vector<int> drawn(4, 0);
  for (std::uint32_t iteration = 0; iteration < 80; ++iteration) {
    const std::int32_t leaf = ring.draw(device, 1, iteration).index[0];
    ++drawn[leaf / 32768 * 2 + (leaf % 32768 ? 1 : 0)];
  }
  for (const int times : drawn) REQUIRE(times > 5);  // of 20 expected
}
