#include "core/alpha/live.h"

#include "core/device/launch.h"

namespace foxhunt::alpha {

LiveModel::LiveModel(Device& device, const TrunkShape& shape, std::int64_t tick)
    : device_(device), shape_(shape), layout_(shape.hidden), tick_(tick) {}

void LiveModel::plan(Arena& arena) {
  const auto hidden = static_cast<std::size_t>(shape_.hidden);
  arena.plan("live.before", 1, before_);
  arena.plan("live.now", 1, now_);
  arena.plan("live.parameters", static_cast<std::size_t>(layout_.parameters()), parameters_);
  arena.plan("live.features", snapshot_features, features_);
  arena.plan("live.seconds", 1, seconds_);
  arena.plan("live.drive", hidden, drive_);
  arena.plan("live.state", hidden, state_);
  arena.plan("live.next", hidden, next_);
  arena.plan("live.projection", alpha_projections, projection_);
  arena.plan("live.logits", alpha_horizons, logits_);
  arena.plan("live.counts", 3, live_);
}

void LiveModel::initialise(std::span<const float> parameters) {
  snapshot_ = std::make_unique<MappedPinnedSnapshotSlot>(device_);
  prediction_ = std::make_unique<MappedPinnedSlot<Prediction>>(device_);
  device_.upload(parameters_, parameters);
}

void LiveModel::perceive() {
  const int hidden = shape_.hidden;
  launch(device_, take_snapshot_kernel, snapshot_->device_ptr(), before_, now_, seconds_, state_, live_, hidden);
  launch(device_, snap_feature_assemble_kernel, before_, now_, features_, 1, tick_);
  launch(device_, dense_forward_kernel, features_, layout_.part(parameters_, TrunkLayout::input), drive_, 1, hidden,
         snapshot_features, 0);
  launch(device_, cfc_step_kernel, drive_, seconds_, layout_.part(parameters_, TrunkLayout::recurrent), state_, next_,
         1, hidden, shape_.tau_min);
  launch(device_, multi_horizon_heads_kernel, next_, layout_.part(parameters_, TrunkLayout::projector),
         layout_.part(parameters_, TrunkLayout::heads), projection_, logits_, 1, hidden);
  launch(device_, publish_prediction_kernel, logits_, projection_, next_, live_, state_, prediction_->device_ptr(),
         hidden);
}

void LiveModel::capture_graph_a() {
  graph_ = device_.record([&] { perceive(); });
}

Prediction LiveModel::wait() {
  const std::uint32_t wanted = snapshot_->sequence_now();
  Prediction answer{};
  while (!prediction_->peek(answer) || answer.snapshot != wanted) {}
  return answer;
}

}  // namespace foxhunt::alpha
