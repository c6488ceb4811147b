// A run that is stopped and taken up again ends with the bits of one that was never stopped.
#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/dqn/resume.h"
#include "core/profile/printer.h"
#include "tests/dqn/training_fixture.h"
#include "tests/rounds.h"
#include "tests/run/child_process.h"
#include "tests/run/same_training_state.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// What is done to the trainer before an iteration: nothing, or what the case plants.
using Hook = std::function<void(Training&, std::int64_t iteration)>;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct Finished {
  std::string metrics, table, validations;  ///< metrics.jsonl, metrics.csv, validation.jsonl
  dqn::TrainingState state;
  dqn::Outcome outcome;
};

dqn::LoadedMarket small_market(const profile::Profile& profile) {
  market::SynthOptions options;
  options.kind = market::MarketKind::walk;
  options.sessions = 12;
  options.seed = seed();
  options.holes = options.roll = false;
  return dqn::make_market(market::synthesize(options), profile);
}

/// One start of the program: to `stop`, or to the end.
Finished start(Training& training, const run::RunDirectory& directory, std::int64_t stop, const Hook& hook,
               bool resumed = false) {
  const std::int64_t begun = training.trainer.iteration();
  run::MetricsRecord metrics = resumed ? run::MetricsRecord(directory, begun) : run::MetricsRecord(directory);
  Finished f;
  f.outcome = training.trainer.run({&metrics, nullptr, nullptr, &directory, [&](std::int64_t iteration) {
                                      if (hook) hook(training, iteration);
                                      return iteration >= stop;
                                    }});
  f.state = training.trainer.state();
  f.metrics = text_of(directory.metrics_file());
  f.table = text_of(directory.metrics_table_file());
  f.validations = text_of(directory.validation_file());
  return f;
}

/// A whole run that is stopped at each of `stops`.
Finished run_with_stops(const std::string& device, const std::vector<std::string>& overrides,
                        const std::vector<std::int64_t>& stops, const Hook& hook = {}) {
  const TemporaryFolder folder;
  const profile::Profile profile = smoke_profile(overrides);
  std::filesystem::path path;
  Finished finished;
  {
    const auto directory = run::RunDirectory::create(folder.path(), "resumed");
    path = directory.path();
    directory.write_profile(profile::to_toml(profile));
    Training training(profile, device, small_market(profile));
    finished = start(training, directory, stops.empty() ? never : stops.front(), hook);
    REQUIRE((stops.empty() || finished.outcome.iterations == stops.front()));
  }
  for (std::size_t i = 0; i < stops.size(); ++i) {
    run::ResumePoint point = run::find_resume_point({path.string(), {}, {}});
    REQUIRE(point.changes.empty());
    Training training(point.profile, device, small_market(point.profile));
    dqn::require_same_market(point, training.market);
    const dqn::TrainingState state = dqn::load_training(point.checkpoint.contents, training.trainer.agent());
    REQUIRE(state.iteration == stops[i]);
    training.trainer.restore(state);
    run::reopen_run(point, state, {"again"}, nlohmann::ordered_json::object());
    finished = start(training, point.directory, i + 1 < stops.size() ? stops[i + 1] : never, hook, true);
  }
  return finished;
}

void require_equal(const Finished& a, const Finished& b) {
  REQUIRE(a.outcome.reason == b.outcome.reason);
  REQUIRE(a.outcome.iterations == b.outcome.iterations);
  REQUIRE(a.outcome.updates == b.outcome.updates);
  REQUIRE(a.outcome.epochs == b.outcome.epochs);
  REQUIRE(a.outcome.fingerprint == b.outcome.fingerprint);
  REQUIRE(a.outcome.best_epoch == b.outcome.best_epoch);
  REQUIRE(a.outcome.best_metric == b.outcome.best_metric);
  REQUIRE(a.outcome.validation.net == b.outcome.validation.net);
  REQUIRE(a.outcome.test.net == b.outcome.test.net);
  REQUIRE(a.outcome.test.actions == b.outcome.test.actions);
  REQUIRE((a.metrics == b.metrics));
  REQUIRE((a.table == b.table));
  REQUIRE(a.validations == b.validations);
  REQUIRE((a.outcome.evaluation == b.outcome.evaluation));
  require_same_training(a.state, b.state);
  REQUIRE((a.state.best == b.state.best));
  REQUIRE(a.state.losses_seen == b.state.losses_seen);
}

const std::vector<std::string> short_run = {"data.purge_rows=60",        "training.epochs=6",
                                            "evaluation.every_epochs=1", "training.iterations_in_flight=2",
                                            "checkpoint.every_epochs=2", "network.hidden=[16, 16]"};

std::vector<std::string> with(std::vector<std::string> overrides, const std::vector<std::string>& more) {
  overrides.insert(overrides.end(), more.begin(), more.end());
  return overrides;
}

}  // namespace

TEST_CASE("resume: stopped anywhere and taken up again, a run ends with the same bits") {
  for (const std::string& device : present_devices()) {
    CAPTURE(device);
    const Finished whole = run_with_stops(device, short_run, {});
    REQUIRE(whole.outcome.iterations == 300);
    REQUIRE(std::count(whole.metrics.begin(), whole.metrics.end(), '\n') == 30);
    // Before the first iteration, before learning starts, between two lines of metrics, at the end of an epoch, ...
    const std::vector<std::vector<std::int64_t>> stops = {{0},   {3},        {10},           {57},         {100},
                                                          {299}, {299, 300}, {1, 2, 3, 123}, {50, 51, 200}};
    for (const auto& at : rounds(stops)) {
      CAPTURE(at);
      require_equal(run_with_stops(device, short_run, at), whole);
    }
  }
}

TEST_CASE("resume: several iterations in flight, and lines of metrics that fall into the middle of epochs") {
  const auto overrides = with(short_run, {"training.iterations_in_flight=8", "run.log_every=37"});
  const Finished whole = run_with_stops("host", overrides, {});
  for (const std::int64_t at : rounds<std::int64_t>({41, 86, 189})) {  // ends of batches of four
    CAPTURE(at);
    require_equal(run_with_stops("host", overrides, {at}), whole);
  }
}

TEST_CASE("resume: the state that a rollback goes back to survives") {
  const auto overrides = with(short_run, {"guards.policy=\"rollback\"", "guards.snapshot_every=20", "guards.limit=9"});
  const Hook plant = [](Training& training, std::int64_t iteration) {
    if (iteration != 134 && iteration != 211) return;
    const float bad = std::numeric_limits<float>::quiet_NaN();
    training.device->upload(training.trainer.agent().learner().parameters().part(0, 1), std::span(&bad, 1));
  };
  const Finished whole = run_with_stops("host", overrides, {}, plant);
  REQUIRE(whole.state.guard.rollbacks == 2);
  for (const std::int64_t at : rounds<std::int64_t>({27, 131, 136, 150})) {
    CAPTURE(at);
    require_equal(run_with_stops("host", overrides, {at}, plant), whole);
  }
}

TEST_CASE("resume: early stopping goes on counting, and a run that it ended stays ended") {
  const auto overrides = with(short_run, {"training.epochs=40", "early_stopping.patience=2"});
  const Finished whole = run_with_stops("host", overrides, {});
  REQUIRE(whole.outcome.reason.starts_with("early stopping"));
  const std::int64_t end = whole.outcome.iterations;
  REQUIRE(end < 40 * 50);
  for (const std::int64_t at : rounds<std::int64_t>({end - 50, end - 49, end - 1})) {
    CAPTURE(at);
    require_equal(run_with_stops("host", overrides, {at}), whole);
  }
}

TEST_CASE("resume: from an older checkpoint, as after a kill, no step of the metrics is missing or comes twice") {
  const TemporaryFolder folder;
  const profile::Profile profile = smoke_profile(short_run);
  Finished whole;
  std::filesystem::path path;
  {
    const auto directory = run::RunDirectory::create(folder.path(), "resumed");
    path = directory.path();
    directory.write_profile(profile::to_toml(profile));
    Training training(profile, "host", small_market(profile));
    whole = start(training, directory, never, {});
  }
  run::ResumePoint point = run::find_resume_point({(path / "checkpoints/epoch-000004.safetensors").string(), {}, {}});
  Training training(point.profile, "host", small_market(point.profile));
  const dqn::TrainingState state = dqn::load_training(point.checkpoint.contents, training.trainer.agent());
  REQUIRE(state.iteration == 200);
  training.trainer.restore(state);
  run::reopen_run(point, state, {"again"}, nlohmann::ordered_json::object());
  require_equal(start(training, point.directory, never, {}, true), whole);
}

TEST_CASE("resume: a run that has ended concludes once more to the same, its only evaluation included") {
  const TemporaryFolder folder;
  const profile::Profile profile = smoke_profile(
      with(short_run, {"training.epochs=1", "evaluation.every_epochs=0", "early_stopping.enabled=false"}));
  const auto directory = run::RunDirectory::create(folder.path(), "resumed");
  directory.write_profile(profile::to_toml(profile));
  const Finished whole = [&] {
    Training training(profile, "host", small_market(profile));
    return start(training, directory, never, {});
  }();
  REQUIRE(std::count(whole.validations.begin(), whole.validations.end(), '\n') == 1);
  run::ResumePoint point = run::find_resume_point({directory.path().string(), {}, {}});
  Training training(point.profile, "host", small_market(point.profile));
  const dqn::TrainingState state = dqn::load_training(point.checkpoint.contents, training.trainer.agent());
  REQUIRE(state.best_epoch == -1);
  training.trainer.restore(state);
  run::reopen_run(point, state, {"again"}, nlohmann::ordered_json::object());
  REQUIRE(text_of(directory.validation_file()).empty());
  require_equal(start(training, point.directory, never, {}, true), whole);
}

TEST_CASE("resume: the named tensors cover all that one iteration hands to the next") {
  for (const char* spectral : {"network.spectral_norm=true", "network.spectral_norm=false"}) {
    const auto training = synthetic_training("host", market::MarketKind::walk, {"data.purge_rows=60", spectral});
    const auto tensors = dqn::persistent_tensors(training->trainer.agent());
    std::size_t end = 0;
    for (const run::PersistentTensor& tensor : tensors) {
      CAPTURE(tensor.name);
      REQUIRE(tensor.offset >= end);
      REQUIRE(tensor.offset < end + 256);  // nothing but alignment in between
      end = tensor.offset + tensor.bytes;
    }
    REQUIRE(end <= training->trainer.agent().persistent_bytes());
    REQUIRE(end + 256 > training->trainer.agent().persistent_bytes());
  }
}

TEST_CASE("resume: another market, other sizes and changed keys are refused with what differs") {
  const TemporaryFolder folder;
  const profile::Profile profile = smoke_profile(with(short_run, {"training.epochs=1"}));
  std::string path;
  {
    const auto directory = run::RunDirectory::create(folder.path(), "resumed");
    path = directory.path().string();
    directory.write_profile(profile::to_toml(profile));
    Training training(profile, "host", small_market(profile));
    start(training, directory, 20, {});
  }
  const auto find = [&](const std::vector<std::string>& overrides) {
    return run::find_resume_point({path, {}, overrides});
  };
  SECTION("a changed key is named with both values; --set takes it") {
    profile::Profile changed = profile;
    changed.optimizer.learning_rate = 0.5;
    std::ofstream(path + "/profile.toml") << profile::to_toml(changed);
    const std::string message = error_of([&] { find({}); });
    REQUIRE(message.starts_with("2 "));
    REQUIRE(message.find("optimizer.learning_rate is 0.5 there and 0.0003 in the checkpoint") != std::string::npos);
    const run::ResumePoint point = find({"optimizer.learning_rate=0.25"});
    REQUIRE(point.profile.optimizer.learning_rate == 0.25);
    REQUIRE(point.changes.size() == 1);
    run::reopen_run(point, {}, {"again"}, nlohmann::ordered_json::object());
    REQUIRE(text_of(path + "/profile-2.toml") == profile::to_toml(point.profile));
    REQUIRE(std::filesystem::exists(path + "/environment-2.json"));
  }
  SECTION("other rows are never taken, other values with a --set") {
    const run::ResumePoint point = find({});
    dqn::LoadedMarket market = small_market(profile);
    dqn::require_same_market(point, market);
    market.tables.cost[0] += 1.0f;
    REQUIRE(error_of([&] { dqn::require_same_market(point, market); }).starts_with("3 "));
    REQUIRE(error_of([&] { find({}); }).find("another process") != std::string::npos);
  }
  SECTION("with a --set of the contract, other values are taken and other rows not") {
    const run::ResumePoint point = find({"contract.slippage_ticks=1.0"});
    dqn::LoadedMarket market = small_market(point.profile);
    dqn::require_same_market(point, market);
    market.tables.train_starts.pop_back();
    REQUIRE(error_of([&] { dqn::require_same_market(point, market); }).find("rows") != std::string::npos);
  }
  SECTION("a network of another shape") {
    const run::ResumePoint point = find({"network.hidden=[16, 24]"});
    const Training training(point.profile, "host", small_market(point.profile));
    const std::string message =
        error_of([&] { dqn::load_training(point.checkpoint.contents, training.trainer.agent()); });
    REQUIRE(message.starts_with("7 tensor 'state.parameters'"));
  }
}
