#pragma once
#include <chrono>
#include <limits>
#include <memory>

#include "core/alpha/mapped_slot.h"
#include "core/alpha/trunk.h"

namespace foxhunt::alpha {

/// The live path: one snapshot in, one prediction out, the state kept in between. perceive() runs its kernels one by
/// one, as training does; serve() is all of them in one kernel; capture_graph_a() records that for one snapshot, and
/// perception_forward_captured() replays it: the same bits. alpha::Resident keeps it on the device.
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
  /// Queues a kernel that answers up to `snapshots` new snapshots and leaves after `idle` without one, or when asked.
  void serve(int snapshots, std::chrono::nanoseconds idle);
  void capture_graph_a();
  void perception_forward_captured() { graph_->run(); }
  /// All of Graph A: writes the snapshot, replays, waits as wait() does.
  template <class F>
  Prediction answer(const Mbp10RawInput& snapshot, F meanwhile) {
    snapshot_->write(snapshot);
    perception_forward_captured();
    return wait(meanwhile);
  }

  /// Waits until the answer to the snapshot last written is there, and calls `meanwhile` between looks. Throws
  /// Error(device) when it has not come after answer_limit.
  template <class F>
  Prediction wait(F meanwhile);
  Prediction wait() {
    return wait([] {});
  }
  static constexpr std::chrono::seconds answer_limit{1};

  Device& device() { return device_; }
  MappedPinnedSnapshotSlot& snapshot() { return *snapshot_; }
  MappedPinnedSlot<Prediction>& prediction() { return *prediction_; }
  /// What the host tells a kernel that serves, and what that tells the host: each 0 or 1.
  std::atomic_ref<std::uint64_t> asked_to_leave() { return std::atomic_ref<std::uint64_t>(asked_->host()[0]); }
  std::atomic_ref<std::uint32_t> left() { return std::atomic_ref<std::uint32_t>(left_->host()[0]); }
  DeviceSpan<float> features() const { return features_; }  ///< [40], of the last snapshot
  DeviceSpan<float> state() const { return state_; }        ///< [hidden], after it

 private:
  [[noreturn]] void no_answer(std::uint32_t wanted);

  Device& device_;
  TrunkShape shape_;
  TrunkLayout layout_;
  std::int64_t tick_;
  DeviceSpan<Mbp10RawInput> before_, now_;
  DeviceSpan<float> parameters_, features_, seconds_, drive_, state_, next_, projection_, logits_;
  DeviceSpan<ServedWeights> weights_;
  DeviceSpan<std::uint32_t> live_;
  std::unique_ptr<MappedPinnedSnapshotSlot> snapshot_;
  std::unique_ptr<MappedPinnedSlot<Prediction>> prediction_;
  std::unique_ptr<MappedBuffer<std::uint64_t>> asked_;
  std::unique_ptr<MappedBuffer<std::uint32_t>> left_;
  std::unique_ptr<Program> graph_;
};

template <class F>
Prediction LiveModel::wait(F meanwhile) {
  constexpr unsigned looks_a_time = 1024;  // a look costs less than the clock
  const std::uint32_t wanted = snapshot_->sequence_now();
  const auto end = std::chrono::steady_clock::now() + answer_limit;
  Prediction answer{};
  for (unsigned looks = 1; !prediction_->peek(answer) || answer.snapshot != wanted; ++looks) {
    meanwhile();
    if (looks % looks_a_time == 0 && std::chrono::steady_clock::now() > end) no_answer(wanted);
  }
  return answer;
}

}  // namespace foxhunt::alpha
