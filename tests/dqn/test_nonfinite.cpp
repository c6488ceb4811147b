// A NaN planted in each thing that an iteration reads: refused in that very iteration, nothing learned is touched, and
// the diagnosis names the first kernel that met it and the tensor.
#include <cstring>
#include <limits>

#include "core/run/safetensors.h"
#include "tests/dqn/training_fixture.h"

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
