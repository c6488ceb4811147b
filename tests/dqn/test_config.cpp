#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

dqn::MarketTables tables() {
  dqn::MarketTables m;
  m.rows = 100;
  m.features = 56;
  m.typical_move = 20;
  return m;
}

}  // namespace

TEST_CASE("gpu_profile: memory_limit plays a smaller card, and the error says what is needed and what to lower") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    market::SynthOptions options;
    options.sessions = 12;
    const profile::Profile profile = smoke_profile({"device.memory_limit=1"});
    const dqn::LoadedMarket market = dqn::make_market(market::synthesize(options), profile);
    const auto device = open_device(name);
    dqn::Trainer trainer(*device, profile, market);
    REQUIRE(trainer.memory_bytes() > (1u << 20));
    std::string message;
    ExitCode code = ExitCode::ok;
    try {
      trainer.initialise();
    } catch (const Error& error) {
      message = error.what();
      code = error.code();
    }
    REQUIRE(code == ExitCode::device);
    REQUIRE(message.find("needs") != std::string::npos);
    REQUIRE(message.find("buffer_size") != std::string::npos);
  }
}

TEST_CASE("gpu_profile: the smoketest fits in 300 MiB and the baseline in a 4 GB card") {
  market::SynthOptions options;
  options.sessions = 12;
  const auto device = open_device("host");
  const auto bytes = [&](const std::string& name) {
    const profile::Profile profile =
        profile::load_profile(name, {"data.purge_rows=60"}, profile::ProfilePaths::standard());
    const dqn::LoadedMarket market = dqn::make_market(market::synthesize(options), profile);
    return dqn::Trainer(*device, profile, market).memory_bytes();
  };
  REQUIRE(bytes("dqn-smoketest") < (300u << 20));
  REQUIRE(bytes("dqn-baseline") < (3500ull << 20));
}

TEST_CASE("config: sizes follow from the profile and the market") {
  const profile::Profile p = smoke_profile();
  const dqn::DqnConfig c = dqn::make_config(p, tables());
  REQUIRE(c.episodes == 4);
  REQUIRE(c.length == 64);
  REQUIRE(c.state == 56 + portfolio_width);
  REQUIRE(c.raw_width >= (c.actions + 1) * c.atoms);
  REQUIRE(c.raw_width % 4 == 0);
  REQUIRE(c.environment.step_limit == 50);
  REQUIRE(c.environment.reward_scale == Approx(20.0 * p.environment.max_contracts));
  REQUIRE(c.schedule.total_iterations == p.training.epochs * 50);
  REQUIRE(c.network().inputs() == c.state);
  REQUIRE(c.network().outputs() == c.raw_width);
}

TEST_CASE("config: a chosen reward scale wins over the market's") {
  REQUIRE(dqn::make_config(smoke_profile({"environment.reward_scale=7"}), tables()).environment.reward_scale == 7.0f);
}
