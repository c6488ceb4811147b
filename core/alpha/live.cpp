#include "core/alpha/live.h"

#include <fmt/format.h>

#include "core/alpha/served_weights.h"
#include "core/device/launch.h"

namespace foxhunt::alpha {

LiveModel::LiveModel(Device& device, const TrunkShape& shape, std::int64_t tick)
    : device_(device), shape_(shape), layout_(shape.hidden), tick_(tick) {}

void LiveModel::plan(Arena& arena) {
  const auto hidden = static_cast<std::size_t>(shape_.hidden);
  arena.plan("live.before", 1, before_);
  arena.plan("live.now", 1, now_);
  arena.plan("live.parameters", static_cast<std::size_t>(layout_.parameters()), parameters_);
  arena.plan("live.weights", 1, weights_);
  arena.plan("live.features", snapshot_features, features_);
  arena.plan("live.seconds", 1, seconds_);
  arena.plan("live.drive", hidden, drive_);
  arena.plan("live.state", hidden, state_);
  arena.plan("live.next", hidden, next_);
  arena.plan("live.projection", alpha_projections, projection_);
  arena.plan("live.logits", alpha_horizons, logits_);
  arena.plan("live.counts", 4, live_);
}

void LiveModel::initialise(std::span<const float> parameters) {
  snapshot_ = std::make_unique<MappedPinnedSnapshotSlot>(device_);
  prediction_ = std::make_unique<MappedPinnedSlot<Prediction>>(device_);
  asked_ = std::make_unique<MappedBuffer<std::uint64_t>>(device_, asked_words);
  left_ = std::make_unique<MappedBuffer<std::uint32_t>>(device_, 1);
  device_.upload(parameters_, parameters);
  const auto matrix = [&](TrunkLayout::Matrix m) { return layout_.part(parameters, m); };
  device_.upload(weights_, std::vector{served_weights(matrix(TrunkLayout::input), matrix(TrunkLayout::recurrent),
                                                      matrix(TrunkLayout::projector), matrix(TrunkLayout::heads))});
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

void LiveModel::serve(int snapshots, std::chrono::nanoseconds idle) {
  launch(device_, serve_snapshots_kernel, snapshot_->device_ptr(), weights_, asked_->device(), now_, features_, state_,
         live_, prediction_->device_ptr(), left_->device(), shape_.hidden, shape_.tau_min, tick_, snapshots,
         static_cast<std::int64_t>(idle.count()));
}

void LiveModel::capture_graph_a() {
  // The snapshot is written before the graph is launched: what is not whole after this long never will be.
  graph_ = device_.record([&] { serve(1, std::chrono::milliseconds(1)); });
}

void LiveModel::no_answer(std::uint32_t wanted) {
  throw Error(ExitCode::device,
              fmt::format("live model: no answer to snapshot {} after {} s; was it written while another thread wrote, "
                          "or was no kernel queued for it?",
                          wanted, answer_limit.count()));
}

}  // namespace foxhunt::alpha
