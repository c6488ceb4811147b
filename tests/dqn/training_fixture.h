#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/dqn/trainer.h"
#include "core/market/synth.h"
#include "core/profile/loader.h"
#include "core/profile/resources.h"
#include "tests/catch.h"

namespace foxhunt::test {

/// The shipped smoketest profile with overrides.
inline profile::Profile smoke_profile(const std::vector<std::string>& overrides = {}) {
  return profile::load_profile("dqn-smoketest", overrides, profile::ProfilePaths::standard());
}

inline bool have_baseline() {
  try {
    return std::filesystem::exists(find_resource_dir("test_data") / "futures-baseline");
  } catch (const Error&) {
    return false;
  }
}

/// One training on one device, ready to run.
struct Training {
  profile::Profile profile;
  std::unique_ptr<Device> device;
  dqn::LoadedMarket market;
  dqn::Trainer trainer;

  Training(const profile::Profile& p, const std::string& device_name, dqn::LoadedMarket loaded)
      : profile(p), device(open_device(device_name)), market(std::move(loaded)), trainer(*device, profile, market) {
    trainer.initialise();
  }
};

/// On the bundled data.
inline std::unique_ptr<Training> baseline_training(const std::string& device,
                                                   const std::vector<std::string>& overrides = {}) {
  const profile::Profile profile = smoke_profile(overrides);
  return std::make_unique<Training>(profile, device, dqn::load_market(profile));
}

/// On a generated market without holes or rolls.
inline std::unique_ptr<Training> synthetic_training(const std::string& device, market::MarketKind kind,
                                                    const std::vector<std::string>& overrides = {}) {
  const profile::Profile profile = smoke_profile(overrides);
  market::SynthOptions options;
  options.kind = kind;
  options.sessions = 12;
  options.seed = seed();
  options.holes = options.roll = false;
  return std::make_unique<Training>(profile, device, dqn::make_market(market::synthesize(options), profile));
}

}  // namespace foxhunt::test
