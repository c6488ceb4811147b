#pragma once
#include "core/alpha/dataset.h"
#include "core/alpha/model.h"
#include "core/device/arena.h"

namespace foxhunt::alpha {

/// First rows of the windows that a model trains on.
struct TrainingWindows {
  std::vector<std::int32_t> starts;
  std::vector<std::uint8_t> continues;  ///< 1 where a window follows on the one before it in its session
};
/// All windows of the training split; of a carried state those that do not overlap, in time order.
TrainingWindows training_windows(const Dataset& data, const ModelOptions& model);

/// A data set on a device: features are made there, once for all rows, by the kernel that the live path uses.
class DeviceDataset {
 public:
  /// The data must outlive this.
  DeviceDataset(Device& device, const Dataset& data, const ModelOptions& model);
  DeviceDataset(const DeviceDataset&) = delete;
  DeviceDataset& operator=(const DeviceDataset&) = delete;

  void plan(Arena& arena);
  /// After Arena::commit.
  void upload();

  const DeviceSnapshots& snapshots() const { return snapshots_; }
  std::size_t windows() const { return windows_.starts.size(); }

 private:
  void assemble_features();

  Device& device_;
  const Dataset& data_;
  TrainingWindows windows_;
  DeviceSnapshots snapshots_;
};

}  // namespace foxhunt::alpha
