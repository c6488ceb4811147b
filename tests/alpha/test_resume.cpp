// A run that is stopped and taken up again ends with the bits of one that was never stopped.
#include "core/alpha/resume.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/alpha/summary.h"
#include "core/profile/printer.h"
#include "tests/alpha/training_fixture.h"
#include "tests/rounds.h"
#include "tests/run/child_process.h"
#include "tests/run/same_training_state.h"

using namespace foxhunt;
using namespace foxhunt::test;
using market::MarketKind;

namespace {

/// What is done to the trainer before a training step: nothing, or what the case plants.
using Hook = std::function<void(AlphaTraining&, std::int64_t iteration)>;

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct Finished {
  std::string metrics, table;  ///< metrics.jsonl, metrics.csv
  std::ptrdiff_t conclusions;  ///< event files of TensorBoard that tell of an end
  nlohmann::ordered_json summary, gate;
  alpha::TrainingState state;
  alpha::Outcome outcome;
};

profile::Profile short_run(const std::string& state = "reset") {
  profile::Profile p = alpha_profile(3);
  p.alpha.state = state;
  p.run.log_every = 10;
  p.training.iterations_in_flight = 2;
  p.optimizer.schedule = "cosine";
  p.optimizer.warmup_iterations = 40;
  p.evaluation.every_epochs = 1;
  p.checkpoint.every_epochs = 2;
  p.early_stopping.enabled = false;
  p.guards.policy = "halt";
  return p;
}

nlohmann::ordered_json summary_of(AlphaTraining& training, Device& device, const run::RunDirectory& directory,
                                  const alpha::Outcome& outcome) {
  const run::CheckList checks;
  const run::PhaseTimer phases;
  auto json = alpha::summary_json(
      {training.profile, training.data, device, training.trainer, outcome, checks, phases, directory});
  for (const char* timed : {"training_seconds", "steps_per_second", "phases", "total_seconds"}) json.erase(timed);
  return json;
}

/// One start of the program: to `stop`, or to the end.
Finished start(AlphaTraining& training, Device& device, const run::RunDirectory& directory, std::int64_t stop,
               const Hook& hook = {}, bool goes_on = false) {
  run::MetricsRecord metrics =
      goes_on ? run::MetricsRecord(directory, training.trainer.iteration()) : run::MetricsRecord(directory);
  Finished f;
  f.outcome = training.trainer.run({&metrics, nullptr, nullptr, &directory, [&](std::int64_t iteration) {
                                      if (hook) hook(training, iteration);
                                      return iteration >= stop;
                                    }});
  f.state = training.trainer.state();
  f.metrics = text_of(directory.metrics_file());
  f.table = text_of(directory.metrics_table_file());
  f.conclusions = std::count_if(std::filesystem::directory_iterator(directory.path()), {},
                                [](const auto& entry) { return entry.path().string().ends_with(".conclusion"); });
  f.summary = summary_of(training, device, directory, f.outcome);
  if (f.outcome.gate) f.gate = f.outcome.gate->json();
  return f;
}

/// Takes up the run where `point` says; to `stop`, or to the end.
Finished go_on(run::ResumePoint& point, Device& device, std::int64_t stop = never, const Hook& hook = {}) {
  AlphaTraining training(device, point.profile, MarketKind::baseline, 1, true);
  run::require_same_market(point, alpha::fingerprint(training.data), training.data.source);
  const alpha::TrainingState state = alpha::load_training(point.checkpoint.contents, training.trainer.model());
  training.trainer.restore(state);
  run::reopen_run(point, state, {"again"}, nlohmann::ordered_json::object());
  return start(training, device, point.directory, stop, hook, true);
}

/// A run's folder and its first start.
struct Begun {
  TemporaryFolder folder;
  std::filesystem::path path;
  Finished finished;

  Begun(Device& device, const profile::Profile& p, std::int64_t stop, const Hook& hook = {}) {
    const auto directory = run::RunDirectory::create(folder.path(), "resumed");
    path = directory.path();
    directory.write_profile(profile::to_toml(p));
    AlphaTraining training(device, p, MarketKind::baseline);
    finished = start(training, device, directory, stop, hook);
  }
  run::ResumePoint point(const std::string& checkpoint = "", const std::vector<std::string>& overrides = {}) const {
    return run::find_resume_point(
        {checkpoint.empty() ? path.string() : (path / "checkpoints" / checkpoint).string(), {}, overrides});
  }
};

/// A whole run that is stopped at each of `stops`.
Finished run_with_stops(Device& device, const profile::Profile& p, const std::vector<std::int64_t>& stops,
                        const Hook& hook = {}) {
  const Begun begun(device, p, stops.empty() ? never : stops.front(), hook);
  Finished finished = begun.finished;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    REQUIRE(finished.outcome.iterations == stops[i]);
    run::ResumePoint point = begun.point();
    REQUIRE(point.changes.empty());
    finished = go_on(point, device, i + 1 < stops.size() ? stops[i + 1] : never, hook);
  }
  return finished;
}

void require_equal(const Finished& a, const Finished& b) {
  REQUIRE(a.summary.dump() == b.summary.dump());
  REQUIRE(a.gate.dump() == b.gate.dump());
  REQUIRE((a.metrics == b.metrics));
  REQUIRE((a.table == b.table));
  REQUIRE(a.conclusions == b.conclusions);
  require_same_training(a.state, b.state);
  REQUIRE((a.state.best == b.state.best));
  REQUIRE((a.state.seen == b.state.seen));
  REQUIRE((a.state.losses == b.state.losses));
  REQUIRE((a.state.initial_parameters == b.state.initial_parameters));
}

}  // namespace

TEST_CASE("alpha_resume: stopped anywhere and taken up again, a run ends with the same bits") {
  for (const std::string& name : present_devices()) {
    const auto device = open_device(name);
    for (const char* state : {"reset", "carry"}) {
      CAPTURE(name, state);
      const Finished whole = run_with_stops(*device, short_run(state), {});
      REQUIRE(whole.outcome.iterations == 150);
      REQUIRE(whole.outcome.gate);
      REQUIRE(whole.conclusions == 1);
      REQUIRE(std::count(whole.metrics.begin(), whole.metrics.end(), '\n') == 15);
      // Before the first step, between two lines of metrics, at the end of an epoch, of the run, ...
      const std::vector<std::vector<std::int64_t>> stops = {{0},  {3},   {10},  {25},       {57},
                                                            {75}, {149}, {150}, {149, 150}, {1, 2, 3, 100}};
      for (const auto& at : rounds(stops)) {
        CAPTURE(at);
        require_equal(run_with_stops(*device, short_run(state), at), whole);
      }
    }
  }
}

TEST_CASE("alpha_resume: several steps in flight, and lines of metrics that fall into the middle of epochs") {
  const auto device = open_device("host");
  profile::Profile p = short_run("carry");
  p.training.iterations_in_flight = 8;
  p.run.log_every = 37;
  const Finished whole = run_with_stops(*device, p, {});
  for (const std::int64_t at : rounds<std::int64_t>({29, 54, 115})) {  // ends of batches of four
    CAPTURE(at);
    require_equal(run_with_stops(*device, p, {at}), whole);
  }
}

TEST_CASE("alpha_resume: the state that a rollback goes back to survives") {
  const auto device = open_device("host");
  profile::Profile p = short_run();
  p.guards.policy = "rollback";
  p.guards.snapshot_every = 20;
  p.guards.limit = 9;
  const Hook plant = [&](AlphaTraining& training, std::int64_t iteration) {
    if (iteration != 67 && iteration != 113) return;
    const float bad = std::numeric_limits<float>::quiet_NaN();
    device->upload(training.trainer.model().parameters().part(0, 1), std::span(&bad, 1));
  };
  const Finished whole = run_with_stops(*device, p, {}, plant);
  REQUIRE(whole.state.guard.rollbacks == 2);
  for (const std::int64_t at : rounds<std::int64_t>({27, 65, 69, 90})) {
    CAPTURE(at);
    require_equal(run_with_stops(*device, p, {at}, plant), whole);
  }
}

TEST_CASE("alpha_resume: early stopping goes on counting, and a run that it ended stays ended") {
  const auto device = open_device("host");
  for (const char* state : {"reset", "carry"}) {
    CAPTURE(state);
    profile::Profile p = short_run(state);
    p.training.epochs = 40;
    p.early_stopping.enabled = true;
    p.early_stopping.patience = 2;
    p.early_stopping.min_delta = 0.02;
    const Finished whole = run_with_stops(*device, p, {});
    REQUIRE(whole.outcome.reason.starts_with("early stopping by auc"));
    const std::int64_t end = whole.outcome.iterations;
    REQUIRE(end < 40 * 25);
    for (const std::int64_t at : rounds<std::int64_t>({end - 25, end - 24, end - 1, end})) {
      CAPTURE(at);
      require_equal(run_with_stops(*device, p, {at}), whole);
    }
  }
}

TEST_CASE("alpha_resume: from an older checkpoint, as after a kill, no step is missing or comes twice") {
  const auto device = open_device("host");
  const Begun whole(*device, short_run("carry"), never);
  const std::string best = text_of(whole.path / "checkpoints/best.safetensors");
  run::ResumePoint point = whole.point("epoch-000004.safetensors");
  REQUIRE(run::iteration_of(point.checkpoint.contents) == 100);
  require_equal(go_on(point, *device), whole.finished);
  REQUIRE((text_of(whole.path / "checkpoints/best.safetensors") == best));
}

TEST_CASE("alpha_resume: from an older checkpoint, the best model is again the best up to there") {
  const auto device = open_device("host");
  const Begun whole(*device, short_run(), never);
  REQUIRE(whole.finished.outcome.best_epoch > 2);
  run::ResumePoint point = whole.point("epoch-000002.safetensors");
  const Finished stopped = go_on(point, *device, 51);
  REQUIRE(stopped.outcome.best_epoch <= 2);
  const auto best = alpha::load_model(whole.path / "checkpoints/best.safetensors");
  REQUIRE(best.metadata.at("epoch") == std::to_string(stopped.outcome.best_epoch));
  REQUIRE(best.metadata.at("iteration") == std::to_string(stopped.outcome.best_epoch * 25));
}

TEST_CASE("alpha_resume: a run that has ended concludes once more to the same, its only evaluation included") {
  const auto device = open_device("host");
  profile::Profile p = short_run();
  p.training.epochs = 1;
  p.evaluation.every_epochs = 0;
  const Begun whole(*device, p, never);
  run::ResumePoint point = whole.point();
  REQUIRE_FALSE(
      alpha::load_training(point.checkpoint.contents, AlphaTraining(*device, p, MarketKind::baseline).trainer.model())
          .best);
  std::ofstream(whole.path / "gate.json") << "of the end that is told anew";
  require_equal(go_on(point, *device), whole.finished);
  REQUIRE_FALSE(std::filesystem::exists(whole.path / "gate.json"));
}

TEST_CASE("alpha_resume: the named tensors cover all that one step hands to the next") {
  const auto device = open_device("host");
  const AlphaTraining training(*device, short_run("carry"), MarketKind::baseline);
  const alpha::Model& model = training.trainer.model();
  std::size_t end = 0;
  for (const run::PersistentTensor& tensor : alpha::persistent_tensors(model)) {
    CAPTURE(tensor.name);
    REQUIRE(tensor.offset >= end);
    REQUIRE(tensor.offset < end + 256);  // nothing but alignment in between
    end = tensor.offset + tensor.bytes;
  }
  REQUIRE(end <= model.persistent_bytes());
  REQUIRE(end + 256 > model.persistent_bytes());
}

TEST_CASE("alpha_resume: a checkpoint of a training is a model too, and needs no other file to go on from") {
  const auto device = open_device("host");
  const Begun first(*device, short_run(), 30);
  const std::filesystem::path last = first.path / "checkpoints/last.safetensors", start = first.folder / "start";
  std::filesystem::copy_file(last, start);
  profile::Profile p = short_run("carry");
  p.alpha.initial_checkpoint = start.string();
  const Begun second(*device, p, 0);
  REQUIRE(second.finished.state.initial_parameters == alpha::load_model(last).parameters);
  const Finished whole = run_with_stops(*device, p, {});
  std::filesystem::remove(start);
  run::ResumePoint point = second.point();
  require_equal(go_on(point, *device), whole);
}

TEST_CASE("alpha_resume: what the model that a run began with has seen is not forgotten") {
  const auto device = open_device("host");
  const TemporaryFolder folder;
  const std::filesystem::path start = folder / "start.safetensors";
  profile::Profile p = short_run();
  const AlphaTraining before(*device, p, MarketKind::baseline);
  alpha::ModelDescription description = before.trainer.description();
  REQUIRE(description.seen);
  description.seen->trained_until += 1'000'000'000;
  alpha::save_model(start, before.trainer.model(), device->download(before.trainer.model().learner_block()),
                    description, {});
  p.alpha.initial_checkpoint = start.string();
  const Begun begun(*device, p, 20);
  run::ResumePoint point = begun.point();
  go_on(point, *device, 40);
  REQUIRE(alpha::load_model(begun.path / "checkpoints/last.safetensors").description.seen == description.seen);
}

TEST_CASE("alpha_resume: changed keys, other windows, shapes and markets are refused with what differs") {
  const auto device = open_device("host");
  const profile::Profile p = short_run();
  const Begun begun(*device, p, 20);
  SECTION("a changed key is named with both values, and --set takes it") {
    profile::Profile changed = p;
    changed.optimizer.learning_rate = 0.5;
    std::ofstream(begun.path / "profile.toml") << profile::to_toml(changed);
    const std::string message = error_of([&] { begun.point(); });
    CAPTURE(message);
    REQUIRE(message.starts_with("2 "));
    REQUIRE(message.find("optimizer.learning_rate is 0.5 there and 0.005 in the checkpoint") != std::string::npos);
    run::ResumePoint point = begun.point("", {"optimizer.learning_rate=0.25"});
    REQUIRE(point.changes.size() == 1);
    REQUIRE(go_on(point, *device, 25).outcome.iterations == 25);
    REQUIRE(text_of(begun.path / "profile-2.toml") == profile::to_toml(point.profile));
  }
  SECTION("windows and the model stay") {
    for (const char* set : {"alpha.windows=8", "alpha.steps=16", "alpha.state=\"carry\""}) {
      const std::string message = error_of([&] { alpha::require_same_windows(begun.point("", {set})); });
      CAPTURE(set, message);
      REQUIRE(message.starts_with("2 --set alpha."));
    }
    alpha::require_same_windows(begun.point("", {"alpha.steps=32"}));
    REQUIRE(error_of([&] { begun.point("", {"model=\"dqn\""}); }).starts_with("2 --set model"));
  }
  SECTION("a trunk of another size") {
    const run::ResumePoint point = begun.point("", {"alpha.hidden=24"});
    const AlphaTraining training(*device, point.profile, MarketKind::baseline);
    REQUIRE(error_of([&] {
              alpha::load_training(point.checkpoint.contents, training.trainer.model());
            }).starts_with("7 tensor 'state.parameters'"));
  }
  SECTION("other rows are never taken, other values with a --set") {
    alpha::Dataset data = alpha_dataset(p, MarketKind::baseline);
    const auto refusal = [&](const std::vector<std::string>& overrides) {
      return error_of(
          [&] { run::require_same_market(begun.point("", overrides), alpha::fingerprint(data), data.source); });
    };
    REQUIRE(refusal({}).empty());
    data.input[17].level[3].bid_size += 1;
    REQUIRE(refusal({}).starts_with("3 "));
    REQUIRE(refusal({}).find("values") != std::string::npos);
    REQUIRE(refusal({"data.path=\"x\""}).empty());
    data.session.back() += 1;
    REQUIRE(refusal({"data.path=\"x\""}).find("rows") != std::string::npos);
  }
}

TEST_CASE("alpha_resume: of a damaged checkpoint the one before is offered, and of a model alone none") {
  const auto device = open_device("host");
  const Begun begun(*device, short_run(), 60);
  const std::filesystem::path last = begun.path / "checkpoints/last.safetensors";
  const std::string whole = text_of(last);
  const auto offered = [&] { return error_of([&] { begun.point(); }); };
  std::ofstream(last, std::ios::trunc) << whole.substr(0, whole.size() / 2);
  CAPTURE(offered());
  REQUIRE(offered().starts_with("7 "));
  REQUIRE(offered().find(last.string()) != std::string::npos);
  REQUIRE(offered().find("epoch-000002.safetensors goes on from iteration 50") != std::string::npos);
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 8);
  std::ofstream(last, std::ios::trunc) << flipped;
  REQUIRE(offered().find("epoch-000002.safetensors goes on from iteration 50") != std::string::npos);
  std::filesystem::remove(begun.path / "checkpoints/epoch-000002.safetensors");
  std::filesystem::copy_file(begun.path / "checkpoints/best.safetensors", last,
                             std::filesystem::copy_options::overwrite_existing);
  REQUIRE(offered().starts_with("7 " + last.string() + ": holds a learner alone"));
  REQUIRE(alpha::load_model(last).description.trunk.hidden == 16);
}
