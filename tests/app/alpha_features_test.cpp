// An agent on the outputs of a frozen alpha model, through the binary: train, go on, repeat, evaluate, export, refuse.
#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

namespace fs = std::filesystem;

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The folder of the one run in a folder.
fs::path only_run(const fs::path& folder) {
  REQUIRE(std::distance(fs::directory_iterator(folder), {}) == 1);
  return fs::directory_iterator(folder)->path();
}

std::string books() { return (source_dir() / "test_data/alpha-baseline").string(); }

/// A run of alpha, short, of this seed.
fs::path alpha_run(const fs::path& output, const std::string& seed = "1", const std::string& data = books()) {
  const Outcome outcome = run_program({"--profile", "alpha-smoketest", "--device", "host", "--quiet", "--data", data,
                                       "--output", output.string(), "--set", "training.epochs=1", "--set",
                                       "smoketest.enabled=false", "--set", "run.seed=" + seed});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return only_run(output);
}

/// Books of so many days, all from the same one on.
std::string books_of(int days, const fs::path& file) {
  const Outcome outcome = run_program({"data", "synth", "--kind", "baseline", "--books", "--sessions",
                                       std::to_string(days), "--rows", "400", "--out", file.string()});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return file.string();
}

/// A short training of an agent on the same books.
std::vector<std::string> agent(const fs::path& output, const std::string& alpha,
                               const std::vector<std::string>& more = {}, const std::string& data = books()) {
  return with({"--profile", "dqn-smoketest", "--device", "host", "--data", data, "--output", output.string(), "--set",
               "smoketest.enabled=false", "--set", "training.epochs=2", "--set", "evaluation.every_epochs=1", "--set",
               "network.hidden=[16]", "--set", "features.alpha=\"" + alpha + "\""},
              more);
}

nlohmann::json json_of(const fs::path& file) { return nlohmann::json::parse(file_text(file)); }

bool holds(const fs::path& file, const std::string& text) { return file_text(file).find(text) != std::string::npos; }

}  // namespace

TEST_CASE("smoke: an agent trains on an alpha model's projections, is evaluated, repeated, resumed and exported") {
  const TemporaryFolder folder;
  const fs::path alpha = alpha_run(folder / "alpha"), checkpoint = alpha / "checkpoints/best.safetensors";
  REQUIRE(fs::exists(checkpoint));
  const Outcome trained = run_program(agent(folder / "agent", alpha.string()));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const fs::path run = only_run(folder / "agent");
  const auto data = json_of(run / "environment.json").at("data");
  const std::string sum = data.at("alpha").at("xxh64");
  REQUIRE(sum.size() == 16);
  REQUIRE(data.at("alpha").at("checkpoint") == checkpoint.string());
  REQUIRE(holds(run / "checkpoints/best.safetensors", "alpha_projection_8"));

  const Outcome eval = run_program({"eval", run.string(), "--json"});
  INFO(eval.err);
  REQUIRE(eval.code == 0);
  const auto summary = json_of(run / "summary.json");
  REQUIRE(nlohmann::json::parse(eval.out).at("agent") == summary.at("test"));
  REQUIRE(summary.at("alpha_saw_test") == false);
  REQUIRE_FALSE(holds(run / "log.txt", "has seen"));
  REQUIRE(run_program({"eval", run.string(), "--data", books()}).code == 0);

  REQUIRE(run_program({"export", run.string(), "--onnx", (folder / "policy.onnx").string()}).code == 0);
  REQUIRE(holds(folder / "policy.onnx", "alpha_projection_1"));

  const Outcome again = run_program({"--repeat", run.string(), "--output", (folder / "again").string()});
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE(again.err.find("bit for bit") != std::string::npos);
  const Outcome resumed = run_program({"--resume", run.string(), "--quiet", "--set", "training.epochs=3"});
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  REQUIRE(json_of(run / "summary.json").at("iterations") == 150);
}

TEST_CASE("smoke: a run goes on with the alpha model that it had, and with no other") {
  const TemporaryFolder folder;
  const fs::path alpha = alpha_run(folder / "alpha"), other = alpha_run(folder / "other", "2");
  const fs::path checkpoint = folder / "frozen.safetensors", moved = folder / "moved.safetensors";
  fs::copy(alpha / "checkpoints/best.safetensors", checkpoint);
  REQUIRE(run_program(agent(folder / "agent", checkpoint.string())).code == 0);
  const std::string run = only_run(folder / "agent").string();
  const std::vector<std::string> eval = {"eval", run}, resume = {"--resume", run, "--quiet"},
                                 repeat = {"--repeat", run, "--quiet", "--output", (folder / "again").string()};

  fs::rename(checkpoint, moved);
  for (const auto& command : {eval, resume, repeat})
    require_refusal(command, 2, {"features.alpha", "frozen.safetensors"});
  REQUIRE(run_program(with(eval, {"--set", "features.alpha=\"" + moved.string() + "\""})).code == 0);

  fs::copy(other / "checkpoints/best.safetensors", checkpoint);
  require_refusal(eval, 3, {"best.safetensors", "another alpha model", "features.alpha"});
  require_refusal(with(eval, {"--data", books()}), 3, {"another alpha model"});
  require_refusal(resume, 3, {"last.safetensors", "another alpha model"});
  require_refusal(repeat, 3, {"frozen.safetensors", "features.alpha has changed", "--profile"});
  require_refusal(with(eval, {"--data", books(), "--set", "features.alpha=\"\""}), 3, {"another alpha model"});
  REQUIRE_FALSE(fs::exists(folder / "again"));
  const Outcome told = run_program(
      with(resume, {"--set", "training.epochs=3", "--set", "features.alpha=\"" + checkpoint.string() + "\""}));
  INFO(told.err);
  REQUIRE(told.code == 0);
}

TEST_CASE("smoke: an alpha model that has seen the agent's test split is told of and recorded, an earlier one is not") {
  const TemporaryFolder folder;
  const std::string week = books_of(5, folder / "week.dbn"), two_weeks = books_of(10, folder / "two-weeks.dbn");
  const std::string late = alpha_run(folder / "late", "1", two_weeks).string(),
                    early = alpha_run(folder / "early", "1", week).string(), told = "features.alpha: " + late;
  const Outcome warned = run_program(agent(folder / "warned", late, {"--quiet"}, week));
  INFO(warned.err);
  REQUIRE(warned.code == 0);
  REQUIRE(warned.err.find(told) != std::string::npos);
  REQUIRE(std::count(warned.err.begin(), warned.err.end(), '\n') == 1);
  const fs::path run = only_run(folder / "warned");
  REQUIRE(json_of(run / "summary.json").at("alpha_saw_test") == true);
  REQUIRE(holds(run / "log.txt", told));
  REQUIRE(holds(run / "report.html", "has seen rows of the test split"));
  REQUIRE(run_program({"eval", run.string()}).out.find(told) != std::string::npos);
  REQUIRE(run_program(agent(folder / "none", late, {"--dry-run"}, week)).out.find("warning: " + told) !=
          std::string::npos);

  const Outcome quiet = run_program(agent(folder / "quiet", early, {"--quiet"}, two_weeks));
  REQUIRE(quiet.code == 0);
  REQUIRE(quiet.err.empty());
  REQUIRE(json_of(only_run(folder / "quiet") / "summary.json").at("alpha_saw_test") == false);
  REQUIRE_FALSE(holds(only_run(folder / "quiet") / "report.html", "has seen rows of the test split"));
}

TEST_CASE("smoke: probabilities have the names of their horizons, and what cannot be an agent's feature is refused") {
  const TemporaryFolder folder;
  const std::string alpha = alpha_run(folder / "alpha").string();
  const Outcome trained = run_program(agent(
      folder / "agent", alpha, {"--set", "features.alpha_outputs=\"probabilities\"", "--set", "training.epochs=1"}));
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  const fs::path run = only_run(folder / "agent");
  for (const char* name : {"alpha_up_1_row", "alpha_up_50_rows"})
    REQUIRE(holds(run / "checkpoints/best.safetensors", name));
  const fs::path none = folder / "none";
  const auto refuse = [&](const std::string& model, int code, const std::vector<std::string>& words,
                          const std::string& set = "run.report=true", const std::string& data = books()) {
    require_refusal(agent(none, model, {"--quiet", "--set", set}, data), code, words);
    REQUIRE_FALSE(fs::exists(none));
  };
  refuse(alpha, 3, {"futures-baseline", "no order books", "features.alpha", "mbp-10"}, "run.report=true",
         (source_dir() / "test_data/futures-baseline").string());
  refuse(alpha, 3, {"tick of 0.5 points", "0.25", "features.alpha"}, "contract.tick_size=0.5");
  refuse(alpha, 2, {"features.alpha_outputs", "probabilities"}, "features.alpha_outputs=\"both\"");
  refuse(run.string(), 7, {"features.alpha", "foxhunt-dqn-1", "foxhunt-alpha-1"});
  refuse("of-nobody", 2, {"features.alpha", "of-nobody"});
  fs::copy(fs::path(alpha) / "checkpoints/best.safetensors", folder / "half.safetensors");
  fs::resize_file(folder / "half.safetensors", 1000);
  refuse((folder / "half.safetensors").string(), 7, {"features.alpha", "half.safetensors"});
  REQUIRE(run_program({"profiles", "check", "dqn-smoketest", "--set", "features.alpha=\"x\""}).code == 0);
  const Outcome dry = run_program(agent(none, alpha, {"--dry-run"}));
  INFO(dry.out << dry.err);
  REQUIRE(dry.code == 0);
  REQUIRE(dry.out.find("features: 76, some by the alpha model ") != std::string::npos);
  REQUIRE_FALSE(fs::exists(none));
}
