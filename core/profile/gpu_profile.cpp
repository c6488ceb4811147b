#include "core/profile/gpu_profile.h"

namespace foxhunt::profile {
namespace {

struct Rule {
  const char* profile;
  double least_gib;
  int least_major;  ///< of the compute capability
};

// The largest first. A card shows a little less than the memory it is sold with.
constexpr Rule rules[] = {{"gpu-h200", 60, 8}, {"gpu-24gb", 20, 7}, {"gpu-rtx3050", 3.5, 7}};

}  // namespace

std::string gpu_profile_for(const GpuCard& card) {
  const double gib = static_cast<double>(card.memory_bytes) / (1 << 30);
  for (const Rule& rule : rules)
    if (gib >= rule.least_gib && card.major >= rule.least_major) return rule.profile;
  return "none";
}

}  // namespace foxhunt::profile
