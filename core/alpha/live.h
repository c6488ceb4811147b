#pragma once
#include <memory>

#include "core/alpha/mapped_slot.h"
#include "core/alpha/trunk.h"

namespace foxhunt::alpha {

/// The live path: one snapshot in, one prediction out, the state kept in between. perceive() runs its launches one by
/// one; capture_graph_a() records them once, and perception_forward_captured() replays that: the same bits.
class LiveModel {
 public:
  /// tick: 1e-9 points.
  LiveModel(Device& device, const TrunkShape& shape, std::int64_t tick);
  LiveModel(const LiveModel&) = delete;
  LiveModel& operator=(const LiveModel&) = delete;

  void plan(Arena& arena);
  /// After Arena::commit. Parameters as TrunkLayout lays them out.
  void initialise(std::span<const float> parameters);

  /// Queues the answer to what the slot holds.
  void perceive();
  void capture_graph_a();
  void perception_forward_captured() { graph_->run(); }
  /// Waits until the answer to the snapshot last written is there.
  Prediction wait();

  MappedPinnedSnapshotSlot& snapshot() { return *snapshot_; }
  MappedPinnedSlot<Prediction>& prediction() { return *prediction_; }
  DeviceSpan<float> features() const { return features_; }  ///< [40], of the last snapshot
  DeviceSpan<float> state() const { return state_; }        ///< [hidden], after it

 private:
  Device& device_;
  TrunkShape shape_;
  TrunkLayout layout_;
  std::int64_t tick_;
  DeviceSpan<Mbp10RawInput> before_, now_;
  DeviceSpan<float> parameters_, features_, seconds_, drive_, state_, next_, projection_, logits_;
  DeviceSpan<std::uint32_t> live_;
  std::unique_ptr<MappedPinnedSnapshotSlot> snapshot_;
  std::unique_ptr<MappedPinnedSlot<Prediction>> prediction_;
  std::unique_ptr<Program> graph_;
};

}  // namespace foxhunt::alpha
