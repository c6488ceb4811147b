// The blend of the losses, as the trainer puts it together, and the batch means that it reports.
#include "tests/cuda/distributional_fixture.h"
#include "tests/cuda/finite_differences.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// Inputs of reduce_losses_kernel.
struct Losses {
  explicit Losses(int batch, int action_count)
      : actions(action_count),
        c51(static_cast<std::size_t>(batch), 0.0f),
        mse(c51),
        cql(c51),
        weight(c51.size(), 1.0f),
        target_mean(c51),
        q(static_cast<std::size_t>(batch * action_count), 0.0f),
        action(c51.size(), 0) {}
  int actions;
  std::vector<float> c51, mse, cql, weight, target_mean, q;
  std::vector<std::int32_t> action;
  std::vector<float> isv = isv_with({{isv_c51_weight, 0.25f}, {isv_mse_weight, 0.75f}, {isv_cql_weight, 2.0f}});
  std::vector<std::uint32_t> counters = counters_with({});
};

struct Reduced {
  std::vector<float> td_error, isv;
  std::vector<std::uint32_t> counters;
  std::size_t unwritten;
};

Reduced reduce(Device& device, const Losses& in) {
  const TestBuffer<float> c51_loss(device, in.c51), mse_loss(device, in.mse), cql_loss(device, in.cql),
      weight(device, in.weight), q(device, in.q), target_mean(device, in.target_mean);
  const TestBuffer<std::int32_t> action(device, in.action);
  TestBuffer<float> td_error(device, in.c51.size()), isv(device, in.isv);
  TestBuffer<std::uint32_t> counters(device, in.counters);
  launch_guarded(device, reduce_losses_kernel, c51_loss, mse_loss, cql_loss, weight, q, action, target_mean, td_error,
                 isv, counters, static_cast<int>(in.c51.size()), in.actions);
  return {td_error.download(), isv.download(), counters.download(), td_error.unwritten()};
}

/// Gradient and loss of the whole chain from the dueling input on: three losses, blended in place, and their mean.
struct Chain {
  Device& device;
  LossShape s;
  std::vector<std::int32_t> action;
  std::vector<float> target, target_mean, weight, isv;

  struct Result {
    std::vector<float> d_raw, isv, td_error;
  };
  Result run(const std::vector<float>& raw) const {
    const Streams at = dueling(device, s, raw);
    const Loss first = c51(device, s, at.logits, action, target, weight);
    const Loss second = mse(device, s, at.logits, at.q, action, target_mean, weight);
    const Loss blend = blended(at, first.d_logits, second.d_logits);
    Losses in(s.batch, s.actions);
    in.c51 = first.loss, in.mse = second.loss, in.cql = blend.loss;
    in.weight = weight, in.q = at.q, in.action = action, in.target_mean = target_mean, in.isv = isv;
    const Reduced means = reduce(device, in);
    return {dueling_backward(device, s, blend.d_logits), means.isv, means.td_error};
  }
  /// a * first + b * second by the two elementwise kernels, then the conservative term on top.
  Loss blended(const Streams& at, const std::vector<float>& first, const std::vector<float>& second) const {
    TestBuffer<float> gradient(device, first);
    const TestBuffer<float> scratch(device, second), bus(device, isv);
    const int n = static_cast<int>(first.size());
    launch_guarded(device, dqn_scale_f32_kernel, gradient, bus.span().part(isv_c51_weight, 1), n);
    launch_guarded(device, dqn_saxpy_f32_kernel, gradient, scratch, bus.span().part(isv_mse_weight, 1), n);
    return cql(device, s, at.logits, at.q, action, weight, isv[isv_cql_weight], gradient.download());
  }
};

Chain make_chain(Device& device, Random& random, float alpha, float cql_weight) {
  const LossShape s = {3, 3, 7, -2.0f, 3.0f};
  std::vector<float> target;
  for (int i = 0; i < s.batch; ++i) {
    const std::vector<float> p = random_distribution(random, s.atoms);
    target.insert(target.end(), p.begin(), p.end());
  }
  return {device,
          s,
          {2, 0, 1},
          target,
          {1.3f, -0.4f, 2.0f},
          {0.7f, 1.0f, 0.2f},
          isv_with({{isv_c51_weight, alpha}, {isv_mse_weight, 1.0f - alpha}, {isv_cql_weight, cql_weight}})};
}

std::vector<float> raw_for(const Chain& chain, Random& random) {
  return random.floats(chain.s.rows() * static_cast<std::size_t>((chain.s.actions + 1) * chain.s.atoms), -1.0f, 1.0f);
}

}  // namespace

TEST_CASE("kernel_distributional_loss: the blended gradient is the slope of the reported loss") {
  ON_EVERY_DEVICE(device);
  for (const auto& [alpha, cql_weight] : {std::pair{0.0f, 0.0f}, std::pair{1.0f, 0.0f}, std::pair{0.6f, 1.5f}}) {
    CAPTURE(alpha, cql_weight);
    Random random(90);
    const Chain chain = make_chain(device, random, alpha, cql_weight);
    const std::vector<float> raw = raw_for(chain, random);
    require_gradient(raw, chain.run(raw).d_raw, [&](const auto& inputs) {
      std::vector<double> losses;
      for (const std::vector<float>& input : inputs) losses.push_back(chain.run(input).isv[isv_loss]);
      return losses;
    });
  }
}

TEST_CASE("kernel_distributional_loss: the blend is linear in alpha and pure at both ends") {
  ON_EVERY_DEVICE(device);
  const auto gradient = [&](float alpha) {
    Random random(91);
    const Chain chain = make_chain(device, random, alpha, 0.0f);
    return chain.run(raw_for(chain, random)).d_raw;
  };
  Random random(91);
  const Chain chain = make_chain(device, random, 0.5f, 0.0f);
  const Streams at = dueling(device, chain.s, raw_for(chain, random));
  const std::vector<float> zero = gradient(0.0f), half = gradient(0.5f), one = gradient(1.0f);
  REQUIRE(largest_difference(
              one, dueling_backward(
                       device, chain.s,
                       c51(device, chain.s, at.logits, chain.action, chain.target, chain.weight).d_logits)) == 0.0);
  REQUIRE(
      largest_difference(
          zero, dueling_backward(
                    device, chain.s,
                    mse(device, chain.s, at.logits, at.q, chain.action, chain.target_mean, chain.weight).d_logits)) ==
      0.0);
  std::vector<float> mean(half.size());
  for (std::size_t i = 0; i < half.size(); ++i) mean[i] = 0.5f * (zero[i] + one[i]);
  REQUIRE(largest_difference(half, mean) < 1e-7);
  REQUIRE(largest_difference(zero, one) > 1e-2);
}

TEST_CASE("kernel_distributional_loss: the bus gets the batch means, the priorities the blended loss") {
  ON_EVERY_DEVICE(device);
  Losses in(4, 2);
  in.c51 = {4.0f, 8.0f, 0.0f, 4.0f};
  in.mse = {0.0f, 4.0f, 8.0f, 4.0f};
  in.cql = {1.0f, 1.0f, 0.0f, 2.0f};
  in.weight = {1.0f, 0.5f, 0.0f, 1.0f};
  in.q = {1.0f, -3.0f, 2.0f, 4.0f, 0.0f, 0.0f, 6.0f, -2.0f};
  in.action = {0, 1, 0, 1};
  in.target_mean = {2.0f, 1.0f, -1.0f, 0.0f};
  const Reduced out = reduce(device, in);
  REQUIRE(out.td_error == std::vector<float>{1.0f, 5.0f, 6.0f, 4.0f});
  // (1 * (1 + 2) + 0.5 * (5 + 2) + 0 + 1 * (4 + 4)) / 4
  REQUIRE(out.isv[isv_loss] == (3.0f + 3.5f + 8.0f) / 4.0f);
  REQUIRE(out.isv[isv_c51_loss] == 4.0f);
  REQUIRE(out.isv[isv_mse_loss] == 4.0f);
  REQUIRE(out.isv[isv_cql_loss] == 1.0f);
  REQUIRE(out.isv[isv_td_error_mean] == (1.0f + 3.0f + 1.0f + 2.0f) / 4.0f);
  REQUIRE(out.isv[isv_q_mean] == 1.0f);
  REQUIRE(out.isv[isv_q_max] == 6.0f);
  REQUIRE(out.counters == in.counters);
  for (const IsvSlot kept : {isv_step, isv_c51_weight, isv_learning_rate, isv_nonfinite_count})
    REQUIRE(out.isv[kept] == in.isv[kept]);
}

TEST_CASE("kernel_distributional_loss: means over batches smaller and larger than a block") {
  ON_EVERY_DEVICE(device);
  Random random(92);
  for (const int batch : {1, 31, 1023, 1024, 1025, 5003}) {
    Losses in(batch, 3);
    in.c51 = random.whole(in.c51.size(), 0, 100);
    in.q = random.whole(in.q.size(), -100, -1);
    const Reduced out = reduce(device, in);
    CAPTURE(batch);
    REQUIRE(out.unwritten == 0);
    REQUIRE(std::fabs(out.isv[isv_c51_loss] - sum(in.c51) / batch) < 1e-4);
    REQUIRE(std::fabs(out.isv[isv_q_mean] - sum(in.q) / (3.0 * batch)) < 1e-4);
    REQUIRE(out.isv[isv_q_max] == *std::max_element(in.q.begin(), in.q.end()));
    REQUIRE(dot(out.td_error, std::vector<float>(in.c51.size(), 1.0f)) == 0.25 * sum(in.c51));
  }
}

TEST_CASE("kernel_distributional_loss: every loss that is not finite is counted") {
  ON_EVERY_DEVICE(device);
  for (auto part : {&Losses::c51, &Losses::mse, &Losses::cql})
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      Losses in(2000, 2);
      (in.*part)[1999] = bad;
      (in.*part)[3] = bad;
      const Reduced out = reduce(device, in);
      REQUIRE(out.counters[counter_nonfinite] == 2);
      REQUIRE(out.counters[counter_nonfinite_mask] == nonfinite_loss);
    }
}

TEST_CASE("kernel_distributional_loss: an iteration that does not learn reports no loss") {
  ON_EVERY_DEVICE(device);
  Losses in(5, 2);
  in.c51[1] = NAN;
  in.counters[counter_learning] = 0;
  const Reduced out = reduce(device, in);
  REQUIRE(out.unwritten == 5);
  REQUIRE(same_bits(out.isv, in.isv));
  REQUIRE(out.counters == in.counters);
}

TEST_CASE("kernel_distributional_loss: one loss that is not finite is counted once, the first or the last") {
  ON_EVERY_DEVICE(device);
  for (auto part : {&Losses::c51, &Losses::mse, &Losses::cql})
    for (const std::size_t at : {std::size_t{0}, std::size_t{699}}) {
      Losses in(700, 2);
      (in.*part)[at] = NAN;
      REQUIRE(reduce(device, in).counters[counter_nonfinite] == 1);
    }
}

TEST_CASE("kernel_distributional_loss: a priority is never less than nothing") {
  ON_EVERY_DEVICE(device);
  Losses in(2, 1);
  in.c51 = {-4.0f, 4.0f};
  REQUIRE(reduce(device, in).td_error == std::vector<float>{1.0f, 1.0f});
}

TEST_CASE("kernel_distributional_loss: sums remember nothing of an earlier launch in larger blocks") {
  for (int round = 0; round < 2; ++round)
    for (const OpenDevice& on : devices()) {
      Losses in(round == 0 ? 200 : 1, 1);
      in.c51.assign(in.c51.size(), 5.0f);
      INFO("on " << on.name);
      REQUIRE(std::fabs(reduce(*on.device, in).isv[isv_c51_loss] - 5.0f) < 1e-5f);
    }
}

TEST_CASE("kernel_distributional_loss: the largest Q is found wherever it stands") {
  ON_EVERY_DEVICE(device);
  for (const std::size_t at : {0u, 31u, 32u, 50u, 64u, 95u, 96u, 99u}) {
    Losses in(100, 1);
    in.q.assign(100, -3.0f);
    in.q[at] = -1.0f;
    CAPTURE(at);
    REQUIRE(reduce(device, in).isv[isv_q_max] == -1.0f);
  }
}
