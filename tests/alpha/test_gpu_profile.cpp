// The sizes that the shipped GPU profiles give the alpha model, against the cards that they are for.
#include "core/profile/gpu_profile.h"

#include "core/profile/loader.h"
#include "tests/alpha/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr std::size_t gib = std::size_t{1} << 30;

/// Phase A with a card's sizes and the widest trunk, its horizons in rows as generated books need.
profile::Profile phase_a(const std::string& card) {
  return profile::load_profile(
      "alpha-phase-a",
      {"gpu_profile=" + card, "alpha.hidden=128", "alpha.horizon_unit=\"rows\"", "alpha.horizons=[1, 2, 5, 10, 20]"},
      profile::ProfilePaths::standard());
}

}  // namespace

TEST_CASE("gpu_profile: a training step of the widest alpha model leaves nine tenths of its card to snapshots") {
  const auto device = open_device("host");
  const alpha::Dataset data = alpha_dataset(phase_a("none"), market::MarketKind::baseline);
  const auto bytes = [&](const std::string& card) {
    const profile::Profile p = phase_a(card);
    return alpha::Trainer(*device, p, data).memory_bytes();
  };
  std::size_t smaller_card = bytes("none");
  for (const std::size_t memory : {4 * gib, 24 * gib, 140 * gib}) {
    const std::string card = profile::gpu_profile_for({.name = "", .major = 8, .minor = 6, .memory_bytes = memory});
    CAPTURE(card);
    const std::size_t wanted = bytes(card);
    REQUIRE(wanted > smaller_card);
    REQUIRE(wanted < memory / 10);
    smaller_card = wanted;
  }
}
