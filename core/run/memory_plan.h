#pragma once
#include <string>
#include <vector>

#include "core/device/arena.h"

namespace foxhunt::run {

/// Largest buffers first, those below a hundredth of all together in one line; [name, bytes, share] and the total.
std::string memory_plan_text(const std::vector<Arena::Entry>& entries, std::size_t total_bytes);

}  // namespace foxhunt::run
