#pragma once
#include "core/dqn/model.h"
#include "core/run/run_directory.h"
#include "tests/dqn/training_fixture.h"

namespace foxhunt::test {

/// A short training on the host that left a run folder behind.
struct TrainedModel {
  TemporaryFolder folder;
  std::unique_ptr<Training> training;
  run::RunDirectory directory;
  dqn::Outcome outcome;

  explicit TrainedModel(const std::vector<std::string>& more = {})
      : training(baseline_training("host", overrides(more))),
        directory(run::RunDirectory::create(folder.path(), "model")),
        outcome(training->trainer.run({nullptr, nullptr, nullptr, &directory})) {}

  dqn::Model load(const std::string& name = "") const {
    return dqn::load_model(dqn::find_checkpoint(directory.path(), name), {"device.device=\"host\""});
  }

 private:
  static std::vector<std::string> overrides(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"training.epochs=4", "evaluation.every_epochs=2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

}  // namespace foxhunt::test
