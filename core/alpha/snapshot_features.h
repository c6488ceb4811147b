#pragma once
#include <array>
#include <string>

#include "core/kernels.h"

namespace foxhunt::alpha {

/// Name and one line of meaning of each of the forty numbers that snap_feature_assemble_kernel makes of a snapshot, in
/// their order. All lie within [-1, 1]: imbalances by themselves, (a - b) / (a + b); other numbers x as x / (1 + |x|).
struct SnapshotFeature {
  std::string name, help;
};
const std::array<SnapshotFeature, snapshot_features>& snapshot_feature_list();

}  // namespace foxhunt::alpha
