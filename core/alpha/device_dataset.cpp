#include "core/alpha/device_dataset.h"

#include <algorithm>

#include "core/device/launch.h"

namespace foxhunt::alpha {

TrainingWindows training_windows(const Dataset& data, const ModelOptions& model) {
  TrainingWindows windows;
  windows.starts = window_starts(data, data.splits.train, model.steps, model.carry ? model.steps : 1);
  windows.continues.assign(windows.starts.size(), 0);
  const auto session = [&](std::size_t w) { return data.session[static_cast<std::size_t>(windows.starts[w])]; };
  for (std::size_t w = 1; w < windows.starts.size(); ++w)
    windows.continues[w] = windows.starts[w] == windows.starts[w - 1] + model.steps && session(w) == session(w - 1);
  return windows;
}

DeviceDataset::DeviceDataset(Device& device, const Dataset& data, const ModelOptions& model)
    : device_(device), data_(data), windows_(training_windows(data, model)) {}

void DeviceDataset::plan(Arena& arena) {
  const std::size_t rows = data_.rows();
  snapshots_.rows = static_cast<int>(rows);
  arena.plan("snapshots.features", rows * snapshot_features, snapshots_.features);
  arena.plan("snapshots.seconds", rows, snapshots_.seconds);
  arena.plan("snapshots.labels", rows * alpha_horizons, snapshots_.labels);
  arena.plan("snapshots.starts", windows_.starts.size(), snapshots_.starts);
  arena.plan("snapshots.continues", windows_.continues.size(), snapshots_.continues);
}

void DeviceDataset::upload() {
  device_.upload(snapshots_.seconds, data_.seconds);
  device_.upload(snapshots_.labels, data_.labels);
  device_.upload(snapshots_.starts, windows_.starts);
  device_.upload(snapshots_.continues, windows_.continues);
  assemble_features();
}

/// The kernel reads the books where the host writes them, in mapped memory, a part at a time: they are needed once.
void DeviceDataset::assemble_features() {
  constexpr std::size_t part = 16'384;
  MappedBuffer<Mbp10RawInput> staging(device_, std::min(part, data_.rows()) + 1);  // the one before the part first
  for (std::size_t first = 0; first < data_.rows(); first += part) {
    const std::size_t count = std::min(part, data_.rows() - first);
    staging.host()[0] = first > 0 ? data_.input[first - 1] : Mbp10RawInput{};
    std::copy_n(data_.input.data() + first, count, staging.host().data() + 1);
    launch(device_, snap_feature_assemble_kernel, staging.device().part(0, 1), staging.device().part(1, count),
           snapshots_.features.part(first * snapshot_features, count * snapshot_features), static_cast<int>(count),
           data_.tick);
    device_.synchronize();
  }
}

}  // namespace foxhunt::alpha
