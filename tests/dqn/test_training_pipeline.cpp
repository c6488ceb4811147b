// The whole way from the bundled market files to a trained agent, on every device present.
#include <cmath>
#include <span>

#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

bool skipped() {
  if (have_baseline()) return false;
  skip("test_data/futures-baseline is not here");
  return true;
}

bool finite(std::span<const float> values) {
  for (const float v : values)
    if (!std::isfinite(v)) return false;
  return true;
}

}  // namespace

TEST_CASE("dqn_training_pipeline: the bundled market becomes finite tables and ordered splits") {
  if (skipped()) return;
  const profile::Profile profile = smoke_profile();
  const dqn::LoadedMarket market = dqn::load_market(profile);
  REQUIRE(market.contract.symbol == "ES");
  REQUIRE(market.contract.multiplier == 50.0);
  REQUIRE(market.tape.rows() > 10000);
  REQUIRE(market.features.width() >= 24);
  REQUIRE(market.tables.table.size() == market.tape.rows() * market.features.width());
  REQUIRE(finite(market.tables.table));
  REQUIRE(finite(market.tables.open_gap));
  REQUIRE(finite(market.tables.hold_gap));
  REQUIRE(finite(market.tables.cost));
  REQUIRE(market.splits.train.end + profile.data.purge_rows <= market.splits.validation.begin);
  REQUIRE(market.splits.validation.end + profile.data.purge_rows <= market.splits.test.begin);
  REQUIRE(market.splits.test.end <= static_cast<std::int64_t>(market.tape.rows()));
  REQUIRE(market.tables.typical_move > 0);
}

TEST_CASE("dqn_training_pipeline: iterations fill the replay, change the parameters, stay finite") {
  if (skipped()) return;
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = baseline_training(name);
    dqn::Trainer& trainer = training->trainer;
    trainer.advance(200);
    const dqn::Health health = trainer.agent().health();
    REQUIRE(health.counters[counter_iteration] == 200);
    REQUIRE(health.counters[counter_trips] == 0);
    REQUIRE(health.counters[counter_updates] > 150);
    REQUIRE(std::isfinite(health.isv[isv_loss]));
    REQUIRE(health.isv[isv_loss] > 0);
    REQUIRE(health.isv[isv_gradient_norm] > 0);
    const std::vector<float> now = training->device->download(trainer.agent().learner().parameters());
    REQUIRE(finite(now));
    REQUIRE(now != trainer.initial_parameters());
    std::int64_t drawable = 0;
    for (const float p : training->device->download(trainer.agent().ring().priority)) drawable += p > 0;
    REQUIRE(drawable >= training->profile.training.min_replay_size);
  }
}

TEST_CASE("dqn_training_pipeline: the same seed gives the same bits, another seed does not") {
  if (skipped()) return;
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto run = [&](const std::string& seed_override) {
      const auto training = baseline_training(name, {seed_override});
      training->trainer.advance(120);
      return std::pair(dqn::download_learner(*training->device, training->trainer.agent()),
                       training->device->download(training->trainer.agent().ring().reward));
    };
    const auto first = run("run.seed=0"), again = run("run.seed=0"), other = run("run.seed=1");
    REQUIRE(first.first == again.first);
    REQUIRE(first.second == again.second);
    REQUIRE_FALSE(first.first == other.first);
    REQUIRE_FALSE(first.second == other.second);
  }
}

TEST_CASE("dqn_training_pipeline: evaluation covers the split, adds up to the cent, repeats itself, changes nothing") {
  if (skipped()) return;
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = baseline_training(name);
    dqn::Trainer& trainer = training->trainer;
    trainer.advance(100);
    const dqn::LearnerState before = dqn::download_learner(*training->device, trainer.agent());
    const auto first = trainer.validation().run();
    REQUIRE(trainer.validation().accounting_error() < 0.01);
    REQUIRE(trainer.validation().nonfinite() == 0);
    const auto again = trainer.validation().run();
    REQUIRE(first.size() == training->market.tables.validation.start_rows.size());
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      REQUIRE(first[i].net == again[i].net);
      REQUIRE(first[i].action == again[i].action);
      steps += static_cast<std::int64_t>(first[i].net.size());
    }
    // Every row of the split is decided on, but the last of each session.
    REQUIRE(steps == training->market.splits.validation.rows() - static_cast<std::int64_t>(first.size()));
    REQUIRE(dqn::download_learner(*training->device, trainer.agent()) == before);
  }
}

TEST_CASE("dqn_training_pipeline: a whole run ends with its best and last checkpoints, which load back equal") {
  if (skipped()) return;
  const TemporaryFolder folder;
  const auto training = baseline_training("host", {"training.epochs=4", "evaluation.every_epochs=2"});
  const run::RunDirectory directory = run::RunDirectory::create(folder.path(), "pipeline");
  run::MetricsRecord metrics(directory);
  run::PhaseTimer phases;
  const dqn::Outcome outcome = training->trainer.run({&metrics, nullptr, &phases, &directory});
  REQUIRE(outcome.iterations == 200);
  REQUIRE(outcome.epochs == 4);
  REQUIRE(outcome.best_epoch > 0);
  REQUIRE(outcome.test.steps > 0);
  const dqn::LearnerState last = dqn::load_checkpoint(directory.checkpoints() / "last.safetensors");
  REQUIRE(last == dqn::download_learner(*training->device, training->trainer.agent()));
  REQUIRE(dqn::fingerprint(last) == outcome.fingerprint);

  // The best checkpoint, loaded into a fresh agent, plays the validation split as the run reported it.
  const auto fresh = baseline_training("host", {"run.seed=9"});
  dqn::upload_learner(*fresh->device, fresh->trainer.agent(),
                      dqn::load_checkpoint(directory.checkpoints() / "best.safetensors"));
  const auto replayed = dqn::measure(fresh->trainer.validation().run(), fresh->trainer.account());
  REQUIRE(replayed.net == outcome.validation.net);
  REQUIRE(replayed.trades == outcome.validation.trades);
}

TEST_CASE("dqn_training_pipeline: gains without a loss, an infinite Sortino ratio, do not stop a run") {
  const auto training = synthetic_training(
      "host", market::MarketKind::skewed,
      {"early_stopping.metric=\"sortino\"", "environment.actions=[0, 1]", "training.epochs=8",
       "evaluation.every_epochs=1", "optimizer.learning_rate=1e-3", "optimizer.warmup_iterations=0"});
  const dqn::Outcome outcome = training->trainer.run({});
  CAPTURE(outcome.reason, outcome.test.net);
  REQUIRE(outcome.epochs == 8);
  REQUIRE(outcome.best_metric == 1e9);
  REQUIRE(std::isinf(outcome.validation.sortino));
}

TEST_CASE("dqn_training_pipeline: with early stopping off, the best is looked for at every evaluation") {
  const auto training = synthetic_training("host", market::MarketKind::walk,
                                           {"data.purge_rows=60", "early_stopping.enabled=false", "training.epochs=6",
                                            "early_stopping.patience=1", "evaluation.every_epochs=1"});
  training->trainer.run({});
  REQUIRE(training->trainer.state().early_stopping.evaluations == 6);
}
