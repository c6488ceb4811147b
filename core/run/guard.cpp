#include "core/run/guard.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "core/run/diagnosis.h"

namespace foxhunt::run {

std::string nonfinite_names(std::uint32_t mask) {
  static constexpr std::pair<NonfiniteIn, const char*> names[] = {
      {nonfinite_priority, "replay priority"},   {nonfinite_feature, "market feature"},
      {nonfinite_portfolio, "replay portfolio"}, {nonfinite_q_value, "Q-value"},
      {nonfinite_price, "market price"},         {nonfinite_return, "n-step return"},
      {nonfinite_target, "target distribution"}, {nonfinite_loss, "loss"},
      {nonfinite_gradient, "gradient"},          {nonfinite_parameter, "parameter"},
      {nonfinite_moment, "optimiser moment"},    {nonfinite_learning_rate, "learning rate"},
  };
  std::string text;
  for (const auto& [bit, name] : names)
    if (mask & bit) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Guard::Guard(Device& device, Trainee& trainee, const profile::Profile::Guards& options)
    : device_(device), trainee_(trainee), options_(options) {}

void Guard::plan(Arena& arena) {
  arena_ = &arena;
  arena.plan("diagnosis_start", trainee_.persistent_bytes(), start_);
  if (options_.policy == "rollback") arena.plan("good_state", trainee_.learner_floats(), good_);
}

void Guard::check(const Health& health) {
  const std::int64_t trips = health.counters[counter_trips];
  if (trips == trips_) return;
  std::string what = fmt::format(
      "non-finite value in {} at iteration {} (first of {}); the update was refused, parameters are as before",
      nonfinite_names(health.counters[counter_trip_mask]), health.counters[counter_trip_iteration], trips);
  trips_ = trips;
  const bool rolling_back = options_.policy == "rollback", halting = options_.policy == "halt";
  const bool giving_up = (rolling_back ? rollbacks_ : trips_) >= options_.limit;
  if (halting || giving_up) what += diagnosis(health);
  if (halting)
    throw Error(ExitCode::numerics,
                what + "; look at the data and the learning rate, or set guards.policy to skip or rollback");
  if (giving_up)
    throw Error(ExitCode::numerics,
                fmt::format("{}; gave up at guards.limit = {} under policy {}", what, options_.limit, options_.policy));
  spdlog::warn("guard: {}", what);
  if (rolling_back) roll_back();
}

void Guard::keep_diagnosis_start(const Health& health) {
  const std::int64_t iteration = health.counters[counter_iteration];
  if (started_at_ >= 0 && iteration - started_at_ < options_.snapshot_every) return;
  device_.copy(start_, DeviceSpan<const std::byte>(trainee_.persistent()));
  started_at_ = iteration;
}

std::string Guard::diagnosis(const Health& health) {
  const std::int64_t tripped = health.counters[counter_trip_iteration];
  if (started_at_ < 0 || started_at_ > tripped) return "";
  // The same bits again: back to the kept state, on to the iteration that tripped, and through it step by step. What
  // the run came to is put back afterwards.
  const std::vector<std::byte> now = device_.download(trainee_.persistent());
  device_.copy(trainee_.persistent(), DeviceSpan<const std::byte>(start_));
  trainee_.iterate(static_cast<int>(tripped - started_at_));
  device_.synchronize();
  const std::uint32_t trips_before = trainee_.health().counters[counter_trips];
  const std::optional<NonfiniteFind> found = find_nonfinite(device_, trainee_.program(), *arena_);
  device_.synchronize();
  const bool met_again = trainee_.health().counters[counter_trips] != trips_before;
  std::string text =
      found       ? "; first " + found->text()
      : met_again ? "; nothing is NaN or infinite yet, but too large for its squares and sums: lower the learning rate"
                  : "; not met again when the iteration was run anew: suspect the device or its memory";
  if (found && !dump_folder_.empty()) {
    const std::filesystem::path file = dump_folder_ / "nonfinite.safetensors";
    dump_arguments(device_, *found, file);
    text += ", tensors in " + file.string();
  }
  device_.upload(trainee_.persistent(), now);
  return text;
}

void Guard::keep_good_state(const Health& health) {
  const std::int64_t iteration = health.counters[counter_iteration];
  if (options_.policy != "rollback" || (have_good_ && iteration - kept_at_ < options_.snapshot_every)) return;
  device_.copy(good_, DeviceSpan<const float>(trainee_.learner_block()));
  have_good_ = true;
  kept_at_ = iteration;
}

Guard::State Guard::state() const {
  State state{trips_, rollbacks_, kept_at_, {}};
  if (have_good_) state.good = device_.download(good_);
  return state;
}

void Guard::restore(const State& state) {
  trips_ = state.trips;
  rollbacks_ = state.rollbacks;
  kept_at_ = state.kept_at;
  started_at_ = -1;
  have_good_ = good_.size > 0 && !state.good.empty();
  if (have_good_)
    device_.upload(good_, state.good);
  else
    keep_good_state(trainee_.health());
}

void Guard::roll_back() {
  device_.synchronize();
  if (!have_good_) return;
  device_.copy(trainee_.learner_block(), DeviceSpan<const float>(good_));
  device_.synchronize();
  trips_ = trainee_.health().counters[counter_trips];  // those of iterations that were in flight belong to this one
  ++rollbacks_;
  spdlog::warn("guard: rolled back to the state of iteration {}", kept_at_);
}

}  // namespace foxhunt::run
