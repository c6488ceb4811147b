#pragma once
#include "core/dqn/market_loader.h"
#include "core/run/resume.h"

namespace foxhunt::dqn {

/// run::require_same_market; and unless an override is of features.alpha, the model behind its features may not be
/// another one either: throws Error(data).
void require_same_market(const run::ResumePoint& point, const LoadedMarket& market);

}  // namespace foxhunt::dqn
