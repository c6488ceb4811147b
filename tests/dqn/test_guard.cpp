// Policies of the NaN guard, with a NaN planted in a running agent.
#include <cmath>
#include <limits>

#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

void plant(Training& training, DeviceSpan<float> span, float value) {
  training.device->upload(span.part(0, 1), std::span(&value, 1));
}

}  // namespace

TEST_CASE("guard: halt stops with the numerics exit code and names the tensor and the iteration") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::walk, {"data.purge_rows=60"});
    training->trainer.advance(60);
    plant(*training, training->trainer.agent().learner().parameters(), nan_value);
    const dqn::LearnerState before = dqn::download_learner(*training->device, training->trainer.agent());
    std::string message;
    ExitCode code = ExitCode::ok;
    try {
      training->trainer.advance(20);
    } catch (const Error& error) {
      message = error.what();
      code = error.code();
    }
    REQUIRE(code == ExitCode::numerics);
    REQUIRE(message.find("parameter") != std::string::npos);
    REQUIRE(message.find("iteration 60") != std::string::npos);
    training->device->synchronize();
    const dqn::LearnerState after = dqn::download_learner(*training->device, training->trainer.agent());
    for (const char* tensor : {"moment1", "moment2", "target"})
      REQUIRE(after.tensors.at(tensor) == before.tensors.at(tensor));
  }
}

TEST_CASE("guard: skip trains on once the value is gone, and gives up at its limit") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::walk,
                                             {"data.purge_rows=60", "guards.policy=\"skip\"", "guards.limit=30"});
    dqn::Trainer& trainer = training->trainer;
    trainer.advance(60);
    const DeviceSpan<float> weights = trainer.agent().learner().parameters();
    const float good = training->device->download(weights.part(0, 1))[0];
    plant(*training, weights, nan_value);
    trainer.advance(5);
    REQUIRE(trainer.guard().trips() == 5);
    plant(*training, weights, good);
    const auto updates = trainer.agent().health().counters[counter_updates];
    trainer.advance(10);
    REQUIRE(trainer.guard().trips() == 5);
    REQUIRE(trainer.agent().health().counters[counter_updates] == updates + 10);
    REQUIRE(std::isfinite(trainer.agent().health().isv[isv_loss]));
    plant(*training, weights, nan_value);
    REQUIRE_THROWS_AS(trainer.advance(60), Error);
  }
}

TEST_CASE("guard: rollback restores the last good state and goes on, and gives up at its limit") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(
        name, market::MarketKind::walk,
        {"data.purge_rows=60", "guards.policy=\"rollback\"", "guards.limit=3", "guards.snapshot_every=1"});
    dqn::Trainer& trainer = training->trainer;
    trainer.advance(60);
    const dqn::LearnerState good = dqn::download_learner(*training->device, trainer.agent());
    plant(*training, trainer.agent().learner().parameters(), nan_value);
    trainer.advance(1);
    REQUIRE(trainer.guard().rollbacks() == 1);
    REQUIRE(dqn::download_learner(*training->device, trainer.agent()) == good);
    trainer.advance(20);
    REQUIRE(trainer.guard().rollbacks() == 1);
    REQUIRE(std::isfinite(trainer.agent().health().isv[isv_loss]));
    // A market that is broken for good: every rollback is followed by the next trip.
    bool gave_up = false;
    for (int i = 0; i < 10 && !gave_up; ++i) {
      plant(*training, trainer.agent().learner().parameters(), nan_value);
      try {
        trainer.advance(1);
      } catch (const Error& error) {
        gave_up = error.code() == ExitCode::numerics;
      }
    }
    REQUIRE(gave_up);
    REQUIRE(trainer.guard().rollbacks() == 3);
  }
}

TEST_CASE("guard: every tensor has a name of its own") {
  std::vector<std::string> seen;
  for (unsigned bit = 1; bit <= nonfinite_priority; bit <<= 1) {
    const std::string name = run::nonfinite_names(bit);
    REQUIRE_FALSE(name.empty());
    for (const std::string& other : seen) REQUIRE(name != other);
    seen.push_back(name);
  }
  REQUIRE(run::nonfinite_names(nonfinite_loss | nonfinite_gradient) == "loss, gradient");
}
