// A NaN planted in each thing that an iteration reads: refused in that very iteration, nothing learned is touched, and
// the diagnosis names the first kernel that met it and the tensor.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/run/safetensors.h"
#include "tests/dqn/training_fixture.h"
#include "tests/rounds.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

/// A float argument of the first launch of a kernel in the recorded iteration.
DeviceSpan<float> argument_of(const dqn::Agent& agent, const std::string& kernel, const std::string& argument) {
  for (const Launch& launch : agent.program().launches()) {
    if (!launch.kernel || launch.kernel->name != kernel) continue;
    for (std::size_t a = 0; a < launch.arguments.size(); ++a)
      if (launch.kernel->arguments[a].name == argument)
        return {static_cast<float*>(const_cast<void*>(launch.arguments[a].data)), launch.arguments[a].size};
  }
  throw std::logic_error("no argument " + argument + " of " + kernel + " in the program");
}

std::vector<std::vector<std::uint32_t>> learner_bits(Training& training) {
  std::vector<std::vector<std::uint32_t>> bits;
  for (const auto& [name, values] : dqn::download_learner(*training.device, training.trainer.agent()).tensors) {
    bits.emplace_back(values.size());
    std::memcpy(bits.back().data(), values.data(), values.size() * sizeof(float));
  }
  return bits;
}

struct Plant {
  const char *kernel, *argument;  ///< where the tensor is first read
  bool everywhere;                ///< in every element, so that whatever is drawn meets it
  const char* kind;               ///< as the guard names it
  const char* tensor;             ///< as the arena names it
};

}  // namespace

TEST_CASE("nonfinite: planted anywhere it is met in the same iteration, refused, and traced to kernel and tensor") {
  const Plant plants[] = {
      {"gather_observations_kernel", "table", true, "market feature", "feature_table"},
      {"gather_observations_kernel", "portfolio", true, "replay portfolio", "replay.portfolio"},
      {"step_environment_kernel", "hold_gap", true, "market price", "hold_gap"},
      {"sample_transitions_kernel", "reward", true, "n-step return", "replay.reward"},
      {"sum_priorities_kernel", "priority", true, "replay priority", "replay.priority"},
      {"gradient_norm_kernel", "parameters", false, "parameter", "parameters"},
      {"gradient_norm_kernel", "moment1", false, "optimiser moment", "moment1"},
      {"gradient_norm_kernel", "moment2", false, "optimiser moment", "moment2"},
      {"update_target_kernel", "target", false, "target distribution", "target"},
      {"spectral_backward_kernel", "effective", false, "Q-value", "effective"},
  };
  for (const std::string& name : present_devices())
    for (const Plant& plant : plants)
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        CAPTURE(name, plant.kernel, plant.argument, bad);
        const auto training =
            synthetic_training(name, market::MarketKind::walk, {"data.purge_rows=60", "guards.snapshot_every=1"});
        dqn::Trainer& trainer = training->trainer;
        trainer.advance(40);
        const DeviceSpan<float> span = argument_of(trainer.agent(), plant.kernel, plant.argument);
        const std::vector<float> values(plant.everywhere ? span.size : 1, bad);
        training->device->upload(span.part(0, values.size()), values);
        const auto before = learner_bits(*training);
        const TemporaryFolder folder;
        trainer.guard().set_dump_folder(folder.path());
        std::string message;
        ExitCode code = ExitCode::ok;
        try {
          trainer.advance(1);
        } catch (const Error& error) {
          message = error.what();
          code = error.code();
        }
        CAPTURE(message);
        REQUIRE(code == ExitCode::numerics);
        REQUIRE(message.find(plant.kind) != std::string::npos);
        REQUIRE(message.find("at iteration 40 ") != std::string::npos);
        REQUIRE(message.find(std::string("(") + plant.tensor + ")") != std::string::npos);
        const bool untouched = learner_bits(*training) == before;
        REQUIRE(untouched);
        const auto dump = run::SafetensorsFile::load(folder / "nonfinite.safetensors");
        REQUIRE(message.find(dump.metadata().at("kernel")) != std::string::npos);
      }
}

TEST_CASE("nonfinite: planted between two kernels of an iteration it is refused in that iteration") {
  // What every iteration computes anew can only be hit in its midst: after `writer` has run, in what it wrote.
  struct {
    const char *writer, *argument, *kind;
    std::size_t element;
  } const plants[] = {
      {"begin_iteration_kernel", "isv", "learning rate", isv_learning_rate},
      {"project_target_kernel", "target", "loss", 0},
      {"project_target_kernel", "target_mean", "loss", 0},
      {"c51_loss_kernel", "loss", "loss", 0},
      {"c51_loss_kernel", "d_logits", "gradient", 0},
      {"reduce_partials_kernel", "gradient", "gradient", 0},
      {"gather_observations_kernel", "observation", "Q-value", 0},
  };
  for (const std::string& name : present_devices())
    for (const auto& plant : plants)
      for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        CAPTURE(name, plant.writer, plant.argument, bad);
        const auto training = synthetic_training(name, market::MarketKind::walk, {"data.purge_rows=60"});
        dqn::Trainer& trainer = training->trainer;
        Device& device = *training->device;
        trainer.advance(40);
        const auto before = learner_bits(*training);
        const DeviceSpan<float> span = argument_of(trainer.agent(), plant.writer, plant.argument);
        for (const Launch& launch : trainer.agent().program().launches()) {
          if (!launch.kernel) continue;
          device.submit(launch);
          if (launch.kernel->name == plant.writer) device.upload(span.part(plant.element, 1), std::span(&bad, 1));
        }
        device.synchronize();
        const bool untouched = learner_bits(*training) == before;
        REQUIRE(untouched);
        std::string message;
        try {
          trainer.guard().check(trainer.agent().health());
        } catch (const Error& error) {
          REQUIRE(error.code() == ExitCode::numerics);
          message = error.what();
        }
        CAPTURE(message);
        REQUIRE(message.find(plant.kind) != std::string::npos);
        REQUIRE(message.find("at iteration 40 ") != std::string::npos);
        REQUIRE(message.find("not met again") != std::string::npos);
      }
}

TEST_CASE("nonfinite: a gradient too large to be squared is refused and traced to its norm") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training =
        synthetic_training(name, market::MarketKind::walk,
                           {"data.purge_rows=60", "guards.snapshot_every=1", "network.spectral_norm=false"});
    dqn::Trainer& trainer = training->trainer;
    trainer.advance(40);
    // A feature of 1e25 that no weight listens to yet: all values and losses stay finite, and the gradient of its
    // weights, but not that gradient's square.
    const LayerTable& layers = trainer.agent().learner().network().table();
    const auto width = static_cast<std::size_t>(layers.outputs[0]);
    training->device->zero(
        trainer.agent().learner().parameters().part(static_cast<std::size_t>(layers.offset[0]), width));
    const DeviceSpan<float> table = argument_of(trainer.agent(), "gather_observations_kernel", "table");
    std::vector<float> features = training->device->download(table);
    const auto columns = static_cast<std::size_t>(layers.inputs[0] - portfolio_width);
    for (std::size_t i = 0; i < features.size(); i += columns) features[i] = 1e25f;
    training->device->upload(table, features);
    const auto before = learner_bits(*training);
    std::string message;
    try {
      trainer.advance(1);
    } catch (const Error& error) {
      REQUIRE(error.code() == ExitCode::numerics);
      message = error.what();
    }
    CAPTURE(message);
    REQUIRE(message.find("value in gradient at iteration 40") != std::string::npos);
    REQUIRE(message.find("gradient_norm_kernel: norm[") != std::string::npos);
    const bool untouched = learner_bits(*training) == before;
    REQUIRE(untouched);
  }
}

TEST_CASE("nonfinite: huge finite values are refused or survived, never silently NaN") {
  const Plant plants[] = {
      {"gather_observations_kernel", "table", true, "", ""}, {"gather_observations_kernel", "portfolio", true, "", ""},
      {"step_environment_kernel", "hold_gap", true, "", ""}, {"step_environment_kernel", "open_gap", true, "", ""},
      {"step_environment_kernel", "cost", true, "", ""},     {"sample_transitions_kernel", "reward", true, "", ""},
      {"sum_priorities_kernel", "priority", true, "", ""},   {"gradient_norm_kernel", "parameters", false, "", ""},
      {"gradient_norm_kernel", "parameters", true, "", ""},  {"gradient_norm_kernel", "moment1", true, "", ""},
      {"gradient_norm_kernel", "moment2", true, "", ""},     {"update_target_kernel", "target", true, "", ""},
  };
  for (const std::string& name : present_devices())
    for (const Plant& plant : plants)
      for (const float bad : rounds<float>({1e30f, -1e30f, std::numeric_limits<float>::max()})) {
        CAPTURE(name, plant.kernel, plant.argument, plant.everywhere, bad);
        const auto training = synthetic_training(name, market::MarketKind::walk,
                                                 {"data.purge_rows=60", "guards.policy=\"skip\"", "guards.limit=1000"});
        dqn::Trainer& trainer = training->trainer;
        trainer.advance(40);
        const DeviceSpan<float> span = argument_of(trainer.agent(), plant.kernel, plant.argument);
        training->device->upload(span.part(0, plant.everywhere ? span.size : 1),
                                 std::vector<float>(plant.everywhere ? span.size : 1, bad));
        trainer.advance(20);
        const dqn::LearnerState learner = dqn::download_learner(*training->device, trainer.agent());
        for (const char* tensor : {"parameters", "moment1", "moment2", "target"}) {
          const std::vector<float>& values = learner.tensors.at(tensor);
          CAPTURE(tensor);
          const bool finite = std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
          REQUIRE(finite);
        }
        // What was learnt from was finite, or the iteration was counted as refused.
        const dqn::Health health = trainer.agent().health();
        REQUIRE((std::isfinite(health.isv[isv_loss]) || health.counters[counter_trips] > 0));
      }
}

TEST_CASE("nonfinite: a learning rate planted on the bus is replaced by the schedule before it is used") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::walk, {"data.purge_rows=60"});
    training->trainer.advance(40);
    training->trainer.agent().bus().write_slot(isv_learning_rate, std::numeric_limits<float>::quiet_NaN());
    training->trainer.advance(5);
    REQUIRE(training->trainer.guard().trips() == 0);
    REQUIRE(training->trainer.agent().bus().snapshot()[isv_learning_rate] > 0);
  }
}
