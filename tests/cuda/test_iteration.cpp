// The two ends of an iteration: schedules and counters in, statistics and the health word out.
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

ScheduleParams plain_schedule() {
  ScheduleParams params{};
  params.epsilon_start = 1.0f, params.epsilon_end = 0.1f, params.epsilon_iterations = 90;
  params.beta_start = 0.4f, params.beta_end = 1.0f, params.beta_iterations = 60;
  params.learning_rate = 0.01f, params.final_fraction = 0.2f;
  params.warmup_iterations = 0, params.total_iterations = 100, params.decay = 0;
  params.c51_weight = 0.75f, params.cql_weight = 0.5f;
  params.min_replay_size = 0;
  return params;
}

/// Bus and counters of a run over 4 episodes and a ring of 10 steps.
struct Run {
  std::vector<float> isv = std::vector<float>(isv_slot_count, -7.0f);
  std::vector<std::uint32_t> counters = counters_with({});
  std::vector<std::uint32_t> health;
  int episodes = 4, length = 10, n_step = 1;

  void begin(Device& device, const ScheduleParams& params) {
    TestBuffer<float> bus(device, isv);
    TestBuffer<std::uint32_t> count(device, counters);
    launch_guarded(device, begin_iteration_kernel, bus, count, episodes, length, n_step, params);
    isv = bus.download(), counters = count.download();
  }
  void end(Device& device, const std::vector<float>& reward) {
    const TestBuffer<float> rewards(device, reward);
    TestBuffer<float> bus(device, isv);
    TestBuffer<std::uint32_t> count(device, counters), word(device, isv_slot_count + std::size_t{counter_count});
    launch_guarded(device, end_iteration_kernel, rewards, bus, count, word, episodes, length);
    REQUIRE(word.unwritten() == 0);
    isv = bus.download(), counters = count.download(), health = word.download();
  }
  void end(Device& device) { end(device, std::vector<float>(static_cast<std::size_t>(episodes * length), 0.0f)); }
};

/// The bus at the begin of an iteration.
std::vector<float> schedules(Device& device, const ScheduleParams& params, std::uint32_t iteration) {
  Run run;
  run.counters[counter_iteration] = iteration;
  run.begin(device, params);
  return run.isv;
}

void require_near(float value, double expected) {
  CAPTURE(value, expected);
  REQUIRE(std::fabs(value - expected) < 2e-6 * std::max(1.0, std::fabs(expected)));
}

}  // namespace

TEST_CASE("kernel_iteration: epsilon and beta ramp from start to end and stay there") {
  ON_EVERY_DEVICE(device);
  const ScheduleParams params = plain_schedule();
  const auto epsilon = [&](std::uint32_t i) { return schedules(device, params, i)[isv_epsilon]; };
  const auto beta = [&](std::uint32_t i) { return schedules(device, params, i)[isv_beta]; };
  require_near(epsilon(0), 1.0);
  require_near(epsilon(45), 0.55);
  REQUIRE(epsilon(90) == 0.1f);
  REQUIRE(epsilon(4000000000u) == 0.1f);
  require_near(beta(0), 0.4);
  require_near(beta(30), 0.7);
  REQUIRE(beta(60) == 1.0f);
  REQUIRE(beta(61) == 1.0f);
}

TEST_CASE("kernel_iteration: a ramp of no length is at its end") {
  ON_EVERY_DEVICE(device);
  ScheduleParams params = plain_schedule();
  params.epsilon_iterations = params.beta_iterations = 0;
  const std::vector<float> isv = schedules(device, params, 0);
  REQUIRE(isv[isv_epsilon] == 0.1f);
  REQUIRE(isv[isv_beta] == 1.0f);
}

TEST_CASE("kernel_iteration: the learning rate is constant, falls linearly or as a cosine") {
  ON_EVERY_DEVICE(device);
  ScheduleParams params = plain_schedule();
  const auto rate = [&](int decay, std::uint32_t i) {
    params.decay = decay;
    return schedules(device, params, i)[isv_learning_rate];
  };
  for (const std::uint32_t i : {0u, 50u, 100u, 1000u}) require_near(rate(0, i), 0.01);
  for (const int decay : {1, 2}) {
    require_near(rate(decay, 0), 0.01);
    require_near(rate(decay, 50), 0.006);  // both are half way between 0.01 and 0.002
    require_near(rate(decay, 100), 0.002);
    require_near(rate(decay, 1000), 0.002);
    float before = 1.0f;
    for (std::uint32_t i = 0; i <= 100; i += 10) {
      REQUIRE(rate(decay, i) < before);
      before = rate(decay, i);
    }
  }
  require_near(rate(1, 25), 0.008);
  REQUIRE(rate(2, 25) > rate(1, 25) + 1e-4f);  // the cosine is above the line in the first half
  REQUIRE(rate(2, 75) < rate(1, 75) - 1e-4f);
}

TEST_CASE("kernel_iteration: warm-up climbs in equal steps to the full rate") {
  ON_EVERY_DEVICE(device);
  ScheduleParams params = plain_schedule();
  params.warmup_iterations = 4;
  const double expected[] = {0.0025, 0.005, 0.0075, 0.01, 0.01};
  for (std::uint32_t i = 0; i < 5; ++i) require_near(schedules(device, params, i)[isv_learning_rate], expected[i]);
}

TEST_CASE("kernel_iteration: the weights of the losses go to the bus, what others write stays") {
  ON_EVERY_DEVICE(device);
  const std::vector<float> isv = schedules(device, plain_schedule(), 12);
  REQUIRE(isv[isv_step] == 12.0f);
  REQUIRE(isv[isv_c51_weight] == 0.75f);
  REQUIRE(isv[isv_mse_weight] == 0.25f);
  REQUIRE(isv[isv_cql_weight] == 0.5f);
  for (const IsvSlot kept :
       {isv_loss, isv_gradient_norm, isv_q_max, isv_reward_mean, isv_action_entropy, isv_nonfinite_count})
    REQUIRE(isv[kept] == -7.0f);
}

TEST_CASE("kernel_iteration: learning starts when a window is complete and the replay holds enough") {
  ON_EVERY_DEVICE(device);
  const auto learns = [&](std::uint32_t iteration, int n_step, int min_replay_size) {
    Run run;
    run.n_step = n_step;
    run.counters[counter_iteration] = iteration;
    run.counters[counter_learning] = 77;
    ScheduleParams params = plain_schedule();
    params.min_replay_size = min_replay_size;
    run.begin(device, params);
    return run.counters[counter_learning];
  };
  REQUIRE(learns(0, 1, 0) == 0);
  REQUIRE(learns(1, 1, 0) == 1);
  REQUIRE(learns(2, 3, 0) == 0);
  REQUIRE(learns(3, 3, 0) == 1);
  REQUIRE(learns(4, 1, 20) == 0);  // 16 of 20 steps
  REQUIRE(learns(5, 1, 20) == 1);
  REQUIRE(learns(9, 1, 40) == 0);
  REQUIRE(learns(10, 1, 40) == 1);
  REQUIRE(learns(1000, 1, 41) == 0);  // more than the ring holds
}

TEST_CASE("kernel_iteration: a new iteration starts with clean counters and keeps the lasting ones") {
  ON_EVERY_DEVICE(device);
  Run run;
  for (std::uint32_t& c : run.counters) c = 3;
  run.counters[counter_iteration] = 5;
  run.begin(device, plain_schedule());
  REQUIRE(run.counters[counter_nonfinite] == 0);
  REQUIRE(run.counters[counter_nonfinite_mask] == 0);
  REQUIRE(std::bit_cast<float>(run.counters[counter_min_priority]) == INFINITY);
  for (int a = 0; a < max_actions; ++a) REQUIRE(run.counters[static_cast<std::size_t>(counter_first_action + a)] == 0);
  REQUIRE(run.counters[counter_iteration] == 5);
  for (const Counter kept :
       {counter_updates, counter_trips, counter_trip_mask, counter_trip_iteration, counter_max_priority})
    REQUIRE(run.counters[kept] == 3);
}

TEST_CASE("kernel_iteration: the reward mean is that of this step's slot") {
  ON_EVERY_DEVICE(device);
  Random random(170);
  for (const int episodes : {1, 4, 255, 256, 1003}) {
    Run run;
    run.episodes = episodes;
    run.counters[counter_iteration] = 13;  // slot 3
    std::vector<float> reward(static_cast<std::size_t>(episodes * 10), NAN);
    const std::vector<float> step = random.whole(static_cast<std::size_t>(episodes), -50, 50);
    std::copy(step.begin(), step.end(), reward.begin() + 3 * episodes);
    run.end(device, reward);
    require_near(run.isv[isv_reward_mean], static_cast<float>(sum(step) / episodes));
  }
}

TEST_CASE("kernel_iteration: action entropy of known counts, in nats") {
  ON_EVERY_DEVICE(device);
  const auto entropy = [&](const std::vector<std::uint32_t>& counts) {
    Run run;
    run.episodes = 0;
    for (std::size_t a = 0; a < counts.size(); ++a) {
      run.counters[counter_first_action + a] = counts[a];
      run.episodes += static_cast<int>(counts[a]);
    }
    run.end(device);
    return run.isv[isv_action_entropy];
  };
  require_near(entropy({40}), 0.0);
  require_near(entropy({0, 0, 9, 0, 9}), std::log(2.0));
  require_near(entropy({5, 5, 5, 5, 5}), std::log(5.0));
  require_near(entropy(std::vector<std::uint32_t>(32, 7)), std::log(32.0));
  require_near(entropy({3, 1}), -0.75 * std::log(0.75) - 0.25 * std::log(0.25));
}

TEST_CASE("kernel_iteration: iterations count always, updates only when something was learnt") {
  ON_EVERY_DEVICE(device);
  for (const auto& [learning, nonfinite, updates] :
       {std::tuple{0u, 0u, 8u}, std::tuple{1u, 0u, 9u}, std::tuple{1u, 2u, 8u}, std::tuple{0u, 1u, 8u}}) {
    Run run;
    run.counters = counters_with({{counter_iteration, 41}, {counter_updates, 8}, {counter_nonfinite, nonfinite}});
    run.counters[counter_learning] = learning;
    run.end(device);
    REQUIRE(run.counters[counter_iteration] == 42);
    REQUIRE(run.counters[counter_updates] == updates);
    REQUIRE(run.counters[counter_trips] == (nonfinite ? 1 : 0));
    REQUIRE(run.isv[isv_nonfinite_count] == static_cast<float>(nonfinite));
  }
}

TEST_CASE("kernel_iteration: a trip counts once an iteration and the first keeps its place and its kinds") {
  ON_EVERY_DEVICE(device);
  Run run;
  const auto iterate = [&](std::uint32_t nonfinite, std::uint32_t mask) {
    run.begin(device, plain_schedule());
    run.counters[counter_nonfinite] = nonfinite;
    run.counters[counter_nonfinite_mask] = mask;
    run.end(device);
  };
  for (int i = 0; i < 3; ++i) iterate(0, 0);
  REQUIRE(run.counters[counter_trips] == 0);
  iterate(1000, nonfinite_loss | nonfinite_gradient);
  REQUIRE(run.counters[counter_trips] == 1);
  iterate(0, 0);
  iterate(5, nonfinite_price);
  REQUIRE(run.counters[counter_trips] == 2);
  REQUIRE(run.counters[counter_trip_mask] == (nonfinite_loss | nonfinite_gradient));
  REQUIRE(run.counters[counter_trip_iteration] == 3);
  REQUIRE(run.counters[counter_iteration] == 6);
  REQUIRE(run.counters[counter_updates] == 3);  // of six iterations, the first could not learn yet and two tripped
}

TEST_CASE("kernel_iteration: the health word is the bus and the counters as they are at the end") {
  ON_EVERY_DEVICE(device);
  Run run;
  run.begin(device, plain_schedule());
  run.counters[counter_first_action] = 4;
  run.counters[counter_nonfinite] = 2;
  run.end(device);
  for (std::size_t i = 0; i < isv_slot_count; ++i) REQUIRE(run.health[i] == std::bit_cast<std::uint32_t>(run.isv[i]));
  for (std::size_t i = 0; i < counter_count; ++i) REQUIRE(run.health[isv_slot_count + i] == run.counters[i]);
}

TEST_CASE("kernel_iteration: schedules of one iteration and of none") {
  ON_EVERY_DEVICE(device);
  ScheduleParams params = plain_schedule();
  params.epsilon_iterations = 1;
  REQUIRE(schedules(device, params, 0)[isv_epsilon] == 1.0f);
  REQUIRE(schedules(device, params, 1)[isv_epsilon] == 0.1f);
  for (const int decay : {1, 2}) {
    params.decay = decay;
    params.total_iterations = 0;  // no end to fall towards
    for (const std::uint32_t i : {0u, 7u}) require_near(schedules(device, params, i)[isv_learning_rate], 0.01);
    params.total_iterations = 1;
    require_near(schedules(device, params, 0)[isv_learning_rate], 0.01);
    require_near(schedules(device, params, 1)[isv_learning_rate], 0.002);
  }
}

TEST_CASE("kernel_iteration: the health word ends with the counters") {
  ON_EVERY_DEVICE(device);
  const TestBuffer<float> reward(device, std::vector<float>(40, 0.0f));
  TestBuffer<float> bus(device, std::vector<float>(isv_slot_count + 1, 0.0f));
  TestBuffer<std::uint32_t> counters(device, std::vector<std::uint32_t>(counter_count + 1, 0u)),
      word(device, health_words + 1);
  launch_guarded(device, end_iteration_kernel, reward, bus, counters, word, 4, 10);
  REQUIRE(word.unwritten() == 1);
}
