// Whole trainings of the alpha model on generated markets of which the right answer is known.
#include "tests/alpha/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using market::MarketKind;

namespace {

/// How many markets of each kind; FOXHUNT_ALPHA_SEEDS=20 is the long form.
int markets() {
  const char* text = std::getenv("FOXHUNT_ALPHA_SEEDS");
  return text ? std::atoi(text) : 2;
}

alpha::Outcome trained(Device& device, MarketKind kind, std::uint64_t market_seed) {
  AlphaTraining training(device, alpha_profile(market_seed), kind, market_seed);
  return training.trainer.run({});
}

std::string verdict(const alpha::Outcome& outcome) {
  std::string text;
  for (const std::string& line : outcome.gate->words()) text += line + "\n";
  return text;
}

void plant(Device& device, DeviceSpan<float> span, float value) { device.upload(span, std::vector(span.size, value)); }

/// The message of the Error(numerics) that advancing throws.
std::string numerics_error(alpha::Trainer& trainer, std::int64_t steps) {
  try {
    trainer.advance(steps);
  } catch (const Error& error) {
    REQUIRE(error.code() == ExitCode::numerics);
    return error.what();
  }
  FAIL("no error");
  return "";
}

}  // namespace

TEST_CASE("alpha: a known edge is learned and passes the gate, a random walk never does") {
  const auto device = open_device("auto");
  int missed = 0, falsely_passed = 0;
  for (int i = 0; i < markets(); ++i) {
    const std::uint64_t market_seed = 100 + static_cast<std::uint64_t>(i);
    const alpha::Outcome edge = trained(*device, MarketKind::baseline, market_seed);
    const alpha::Outcome walk = trained(*device, MarketKind::walk, market_seed);
    INFO("market seed " << market_seed << "\nedge:\n" << verdict(edge) << "walk:\n" << verdict(walk));
    missed += !edge.gate->passed();
    falsely_passed += walk.gate->passed();
    CHECK(edge.test.mean_auc > 0.6);
    CHECK(edge.gate->passed());
    CHECK_FALSE(walk.gate->passed());
  }
  std::cout << markets() << " markets of each kind: " << missed << " edges missed, " << falsely_passed
            << " random walks passed\n";
  REQUIRE(missed == 0);
  REQUIRE(falsely_passed == 0);
}

TEST_CASE("alpha: the same seed ends with the same bits, however many steps are in flight, and another seed does not") {
  ON_EVERY_DEVICE(device);
  for (const char* state : {"reset", "carry"}) {
    const auto fingerprint = [&](std::uint64_t run_seed, std::int64_t in_flight) {
      profile::Profile p = alpha_profile(run_seed);
      p.alpha.state = state;
      p.training.epochs = 2;
      p.training.iterations_in_flight = in_flight;
      AlphaTraining training(device, p, MarketKind::baseline);
      return training.trainer.run({}).fingerprint;
    };
    CAPTURE(state);
    const std::uint64_t first = fingerprint(3, 8);
    REQUIRE(fingerprint(3, 1) == first);
    REQUIRE(fingerprint(4, 8) != first);
  }
}

TEST_CASE("alpha: the best state is the one that is judged, and the last one goes on") {
  ON_EVERY_DEVICE(device);
  const TemporaryFolder folder;
  const run::RunDirectory directory = run::RunDirectory::create(folder.path(), "alpha");
  profile::Profile p = alpha_profile();
  p.early_stopping.min_delta = 1;  // the first evaluation stays the best
  AlphaTraining training(device, p, MarketKind::baseline);
  alpha::Trainer& trainer = training.trainer;
  const alpha::Outcome outcome = trainer.run({nullptr, nullptr, nullptr, &directory});
  REQUIRE(outcome.best_epoch == 2);
  const auto loss_of = [&](const char* name) {
    const alpha::SavedModel saved = alpha::load_model(directory.checkpoints() / name);
    const std::vector<float> now = device.download(trainer.model().parameters());
    device.upload(trainer.model().parameters(), saved.parameters);
    const std::vector<float> probability = trainer.test().run(trainer.model().parameters(), trainer.snapshots());
    device.upload(trainer.model().parameters(), now);
    return alpha::score(training.data, training.data.splits.test, probability).loss;
  };
  REQUIRE(outcome.test.loss == loss_of("best.safetensors"));
  REQUIRE(outcome.test.loss != loss_of("last.safetensors"));
  const std::vector<float> last = alpha::load_model(directory.checkpoints() / "last.safetensors").parameters;
  REQUIRE(device.download(trainer.model().parameters()) == last);
  REQUIRE(run::fingerprint(last) == outcome.fingerprint);
}

TEST_CASE("alpha: early stopping ends a run that no longer gets better") {
  ON_EVERY_DEVICE(device);
  profile::Profile p = alpha_profile();
  p.training.epochs = 60;
  p.evaluation.every_epochs = 1;
  p.early_stopping.enabled = true;
  p.early_stopping.patience = 2;
  p.early_stopping.min_delta = 0.2;  // more than there is to gain after the first evaluations
  AlphaTraining training(device, p, MarketKind::baseline);
  const alpha::Outcome outcome = training.trainer.run({});
  REQUIRE(outcome.reason.rfind("early stopping", 0) == 0);
  REQUIRE(outcome.epochs < 10);
  REQUIRE(outcome.epochs == outcome.best_epoch + 2);
  REQUIRE(outcome.best_metric == outcome.validation.mean_auc);
}

TEST_CASE(
    "alpha: halt stops at a NaN in a feature, naming tensor and step, and parameters and moments keep their bits") {
  ON_EVERY_DEVICE(device);
  AlphaTraining training(device, alpha_profile(), MarketKind::baseline);
  alpha::Trainer& trainer = training.trainer;
  trainer.advance(10);
  const std::vector<float> before = device.download(trainer.model().learner_block());
  plant(device, trainer.snapshots().features, NAN);
  const std::string message = numerics_error(trainer, 5);
  INFO(message);
  REQUIRE(message.find("iteration 10") != std::string::npos);
  REQUIRE(message.find("gather_windows_kernel") != std::string::npos);
  REQUIRE(message.find("snapshots.features") != std::string::npos);
  REQUIRE(message.find("guards.policy") != std::string::npos);
  device.synchronize();
  REQUIRE(device.download(trainer.model().learner_block()) == before);
}

TEST_CASE("alpha: a NaN in a weight is refused, and all else keeps its bits") {
  ON_EVERY_DEVICE(device);
  AlphaTraining training(device, alpha_profile(), MarketKind::baseline);
  alpha::Trainer& trainer = training.trainer;
  trainer.advance(10);
  const DeviceSpan<float> weight = trainer.model().parameters().part(100, 1);
  const float good = device.download(weight)[0];
  const std::vector<float> before = device.download(trainer.model().learner_block());
  plant(device, weight, NAN);
  const std::string message = numerics_error(trainer, 5);
  INFO(message);
  REQUIRE(message.find("parameter") != std::string::npos);
  REQUIRE(message.find("alpha.parameters") != std::string::npos);
  plant(device, weight, good);
  REQUIRE(device.download(trainer.model().learner_block()) == before);
}

TEST_CASE("alpha: a weight that is finite but too large to go on with is refused, and called that") {
  ON_EVERY_DEVICE(device);
  AlphaTraining training(device, alpha_profile(), MarketKind::baseline);
  training.trainer.advance(10);
  plant(device, training.trainer.model().parameters().part(0, 1), 1e20f);
  const std::string message = numerics_error(training.trainer, 5);
  INFO(message);
  REQUIRE(message.find("parameter") != std::string::npos);
  REQUIRE(message.find("too large") != std::string::npos);
  REQUIRE(message.find("suspect the device") == std::string::npos);
}

TEST_CASE("alpha: a label that is neither up nor down is masked, whatever byte it is") {
  ON_EVERY_DEVICE(device);
  AlphaTraining masked(device, alpha_profile(), MarketKind::baseline),
      odd(device, alpha_profile(), MarketKind::baseline);
  const DeviceSpan<std::uint8_t> labels = odd.trainer.snapshots().labels;
  std::vector<std::uint8_t> bytes = device.download(labels);
  for (std::uint8_t& label : bytes)
    if (label == no_label) label = 77;
  device.upload(labels, bytes);
  masked.trainer.advance(20);
  odd.trainer.advance(20);
  REQUIRE(device.download(odd.trainer.model().parameters()) == device.download(masked.trainer.model().parameters()));
  REQUIRE(odd.trainer.guard().trips() == 0);
}

TEST_CASE("alpha: skip trains on once the value is gone and gives up at its limit") {
  ON_EVERY_DEVICE(device);
  for (const char* state : {"reset", "carry"}) {
    CAPTURE(state);
    profile::Profile p = alpha_profile();
    p.alpha.state = state;
    p.guards.policy = "skip";
    p.guards.limit = 30;
    AlphaTraining training(device, p, MarketKind::baseline);
    alpha::Trainer& trainer = training.trainer;
    trainer.advance(10);
    const DeviceSpan<float> weight = trainer.model().parameters().part(0, 1);
    const float good = device.download(weight)[0];
    plant(device, weight, NAN);
    trainer.advance(5);
    REQUIRE(trainer.guard().trips() == 5);
    plant(device, weight, good);
    trainer.advance(10);  // no state that was not finite is carried on
    REQUIRE(trainer.guard().trips() == 5);
    REQUIRE(trainer.model().health().counters[counter_updates] == 20);
    plant(device, weight, NAN);
    REQUIRE(numerics_error(trainer, 100).find("guards.limit = 30") != std::string::npos);
  }
}

TEST_CASE("alpha: rollback puts the last good learner back") {
  ON_EVERY_DEVICE(device);
  profile::Profile p = alpha_profile();
  p.guards.policy = "rollback";
  p.guards.snapshot_every = 1;
  AlphaTraining training(device, p, MarketKind::baseline);
  alpha::Trainer& trainer = training.trainer;
  trainer.advance(10);
  const std::vector<float> good = device.download(trainer.model().learner_block());
  plant(device, trainer.model().parameters().part(7, 1), NAN);
  trainer.advance(1);
  REQUIRE(trainer.guard().rollbacks() == 1);
  REQUIRE(device.download(trainer.model().learner_block()) == good);
  trainer.advance(10);
  REQUIRE(trainer.guard().rollbacks() == 1);
  for (const float value : device.download(trainer.model().parameters())) REQUIRE(std::isfinite(value));
}
