#pragma once
#include <cstdint>
#include <span>

#include "core/alpha/dataset.h"

namespace foxhunt::alpha {

/// Fills data.labels, balance and label_rows from twice_mid, splits, session and horizons, as Dataset describes them.
/// ts [rows]: UTC ns at which a row is known.
void make_labels(Dataset& data, std::span<const std::int64_t> ts);

/// Throws Error(data) where a horizon has nothing to learn or to judge; see make_dataset.
void check_labels(const Dataset& data, std::span<const std::int64_t> ts);

}  // namespace foxhunt::alpha
