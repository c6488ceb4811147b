#pragma once
#include <cstdint>

#include "core/market/tape.h"

namespace foxhunt::market {

/// The column "signal" of these bars, of days one after the other; see synthesize. `strength` is 0 to 1. There must be
/// a day on which the close changes.
ExtraColumn make_signal(const Bars& bars, double strength, std::uint64_t seed);

}  // namespace foxhunt::market
