#pragma once
#include "core/alpha/gate.h"
#include "core/alpha/model.h"
#include "core/profile/profile.h"

namespace foxhunt::alpha {

// What a profile means to the parts of the alpha model. Its seed is set.

Horizons horizons_of(const profile::Profile::Alpha& alpha);
DatasetOptions dataset_options(const profile::Profile& profile, const market::Contract& contract);
ModelOptions model_options(const profile::Profile& profile);
GateOptions gate_options(const profile::Profile& profile);

}  // namespace foxhunt::alpha
