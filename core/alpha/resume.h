#pragma once
#include "core/alpha/dataset.h"
#include "core/run/resume.h"

namespace foxhunt::alpha {

/// Rows: how many there are, their sessions, the splits. Values: the snapshots, and the tick that features are made
/// with.
run::MarketFingerprint fingerprint(const Dataset& data);

/// Throws Error(usage) when overrides want other windows than those that the run is in the middle of.
void require_same_windows(const run::ResumePoint& point);

}  // namespace foxhunt::alpha
