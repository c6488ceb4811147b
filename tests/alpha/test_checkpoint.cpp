// What a trained model leaves behind, and what of it is believed.
#include "core/alpha/checkpoint.h"

#include <fstream>

#include "core/alpha/frozen_model.h"
#include "core/run/safetensors.h"
#include "tests/alpha/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;
using market::MarketKind;

namespace {

template <class Work>
void require_error(ExitCode code, const std::vector<std::string>& words, Work work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string message = error.what();
    INFO(message);
    REQUIRE(error.code() == code);
    for (const std::string& word : words) REQUIRE(message.find(word) != std::string::npos);
    return;
  }
  FAIL("no error");
}

struct Saved {
  TemporaryFolder folder;
  std::filesystem::path file = folder / "model.safetensors";
  std::unique_ptr<Device> device = open_device("host");
  AlphaTraining training{*device, alpha_profile(), MarketKind::baseline};

  Saved() {
    training.trainer.advance(5);
    alpha::Model& model = training.trainer.model();
    alpha::save_model(file, model, device->download(model.learner_block()), training.trainer.description(),
                      {{"profile", "x"}});
  }

  /// The same file with its metadata changed.
  void rewrite(const std::function<void(std::map<std::string, std::string>&)>& change) {
    const run::SafetensorsFile loaded = run::SafetensorsFile::load(file);
    std::map<std::string, std::string> metadata;
    for (const auto& [name, text] : loaded.metadata())
      if (!name.starts_with("foxhunt.")) metadata[name] = text;
    change(metadata);
    std::vector<run::TensorView> views;
    for (const std::string& name : loaded.names()) views.push_back(loaded.tensor(name));
    run::save_safetensors(file, views, metadata);
  }
};

}  // namespace

TEST_CASE("alpha: a checkpoint gives back parameters and all that they mean something with") {
  Saved saved;
  const alpha::SavedModel loaded = alpha::load_model(saved.file);
  REQUIRE(loaded.parameters == saved.device->download(saved.training.trainer.model().parameters()));
  REQUIRE(loaded.description.trunk.hidden == 16);
  REQUIRE(loaded.description.trunk.tau_min == 0.01f);
  REQUIRE(loaded.description.tick == 250'000'000);
  for (std::size_t h = 0; h < 5; ++h)
    REQUIRE(loaded.description.horizons[h].rows == saved.training.data.horizons[h].rows);
  REQUIRE(loaded.metadata.at("profile") == "x");
  REQUIRE(loaded.metadata.at("features").rfind("spread microprice mid_change ", 0) == 0);
  const run::SafetensorsFile file = run::SafetensorsFile::load(saved.file);
  REQUIRE(file.tensor("input.weight").shape == std::vector<std::int64_t>{40, 16});
  REQUIRE(file.tensor("recurrent.theta").shape == std::vector<std::int64_t>{16});
  REQUIRE(file.tensor("heads.bias").shape == std::vector<std::int64_t>{5});
  REQUIRE(file.contains("state.moment2"));
}

TEST_CASE("alpha: a checkpoint says which rows its training saw, and one of an older program is read without that") {
  Saved saved;
  const alpha::Dataset& data = saved.training.data;
  const auto row = [&](std::int64_t i) { return data.input[static_cast<std::size_t>(i)].ts; };
  const auto seen = alpha::load_model(saved.file).description.seen;
  REQUIRE(seen);
  REQUIRE(seen->instrument == "ES");
  REQUIRE(seen->trained_until == row(data.splits.train.end - 1));
  REQUIRE(seen->chosen_until == row(data.splits.validation.end - 1));
  REQUIRE(seen->trained_until < row(data.splits.validation.begin));
  REQUIRE(seen->chosen_until < row(data.splits.test.begin));
  using Output = alpha::FrozenModel::Output;
  REQUIRE(alpha::FrozenModel(*saved.device, saved.file, Output::projections).seen()->chosen_until ==
          seen->chosen_until);

  saved.rewrite([](auto& metadata) { metadata["trained_until"] = "yesterday"; });
  require_error(ExitCode::storage, {"trained_until", "no list of numbers"}, [&] { alpha::load_model(saved.file); });
  saved.rewrite([](auto& metadata) { metadata["trained_until"] = "7", metadata.erase("chosen_until"); });
  require_error(ExitCode::storage, {"chosen_until", "missing"}, [&] { alpha::load_model(saved.file); });
  saved.rewrite([](auto& metadata) { metadata.erase("trained_until"), metadata.erase("instrument"); });
  REQUIRE_FALSE(alpha::load_model(saved.file).description.seen);
  REQUIRE_FALSE(alpha::FrozenModel(*saved.device, saved.file, Output::projections).seen());
}

TEST_CASE("alpha: a training that starts from another model has seen what that one saw") {
  Saved saved;
  profile::Profile p = alpha_profile();
  p.alpha.initial_checkpoint = saved.file.string();
  const auto seen = [&] { return AlphaTraining(*saved.device, p, MarketKind::baseline).trainer.description().seen; };
  const auto own = saved.training.trainer.description().seen;
  REQUIRE(own);
  saved.rewrite([&](auto& metadata) {
    metadata["trained_until"] = std::to_string(own->trained_until + 1);
    metadata["chosen_until"] = std::to_string(own->chosen_until - 1);
  });
  REQUIRE(seen()->trained_until == own->trained_until + 1);
  REQUIRE(seen()->chosen_until == own->chosen_until);
  saved.rewrite([](auto& metadata) { metadata.erase("trained_until"); });
  REQUIRE_FALSE(seen());
}

TEST_CASE("alpha: training can start from a checkpoint, and refuses one of another shape") {
  Saved saved;
  profile::Profile p = alpha_profile();
  p.alpha.initial_checkpoint = saved.file.string();
  const AlphaTraining goes_on(*saved.device, p, MarketKind::baseline);
  REQUIRE(goes_on.trainer.initial_parameters() == saved.device->download(saved.training.trainer.model().parameters()));
  const auto refuse = [&](const profile::Profile& other, const std::vector<std::string>& words) {
    require_error(ExitCode::usage, words, [&] { AlphaTraining(*saved.device, other, MarketKind::baseline); });
  };
  p.alpha.hidden = 24;
  refuse(p, {"model.safetensors", "alpha.hidden = 16", "24"});
  p.alpha.hidden = 16;
  p.alpha.tau_min = 0.02;
  refuse(p, {"alpha.tau_min"});
  p.alpha.tau_min = 0.01;
  p.alpha.horizons = {1, 2, 5, 10, 21};
  refuse(p, {"alpha.horizons", "20 rows", "21 rows"});
}

TEST_CASE("alpha: a file that is no alpha model, or says other than it holds, is refused in words") {
  Saved saved;
  const auto refuse = [&](ExitCode code, const std::vector<std::string>& words, const auto& change) {
    saved.rewrite(change);
    require_error(code, words, [&] { alpha::load_model(saved.file); });
  };
  using Metadata = std::map<std::string, std::string>;
  refuse(ExitCode::usage, {"24 units"}, [](Metadata& m) { m["hidden"] = "24"; });
  refuse(ExitCode::usage, {"alpha.hidden"}, [](Metadata& m) { m["hidden"] = "100000"; });
  refuse(ExitCode::storage, {"hidden", "no list of numbers"}, [](Metadata& m) { m["hidden"] = "many"; });
  refuse(ExitCode::storage, {"horizons", "4 numbers"},
         [](Metadata& m) { m["hidden"] = "16", m["horizons"] = "1 2 3 4"; });
  refuse(ExitCode::storage, {"horizons", "missing"}, [](Metadata& m) { m.erase("horizons"); });
  refuse(ExitCode::usage, {"features"}, [](Metadata& m) { m["horizons"] = "1 2 3 4 5", m["features"] = "spread"; });
  refuse(ExitCode::usage, {"foxhunt-dqn-1", "foxhunt-alpha-1"}, [](Metadata& m) { m["format"] = "foxhunt-dqn-1"; });
  require_error(ExitCode::storage, {"absent"}, [&] { alpha::load_model(saved.folder / "absent"); });
}
