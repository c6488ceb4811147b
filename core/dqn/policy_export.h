#pragma once
#include <string>

#include "core/dqn/model.h"

namespace foxhunt::dqn {

/// The greedy policy as the bytes of an ONNX file (operator set 17):
///
///   features  float64 [batch, F]  as computed from the market, not standardised: the model does that, and clips
///   portfolio float32 [batch, 8]  portfolio_names(), each in [-1, 1]
///   q         float32 [batch, A]  expected return of each action, in rewards
///   action    int64   [batch]     index of the largest; the first of equals
///
/// Metadata: "feature_names", "portfolio_names" and "positions" (contracts, by action) as JSON lists, "model" (the
/// model card) and "profile_toml", "profile", "epoch", "iteration", "fingerprint".
std::string policy_onnx(const Model& model);

}  // namespace foxhunt::dqn
