// Whole runs of the alpha model through the binary: what comes out, what is left behind, and every exit code.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

/// A smoke run short enough to be repeated.
std::vector<std::string> short_run(const TemporaryFolder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"--profile", "alpha-smoketest", "--device",
                                        "host",      "--output",        folder.path().string(),
                                        "--quiet",   "--set",           "training.epochs=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::filesystem::path only_run(const TemporaryFolder& folder) {
  std::filesystem::path run;
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) run = entry.path(), ++count;
  REQUIRE(count == 1);
  return run;
}

nlohmann::json json_of(const std::filesystem::path& file) { return nlohmann::json::parse(file_text(file)); }

/// A generated market in a file of its own.
std::string generated(const TemporaryFolder& folder, const std::string& name, const std::vector<std::string>& options) {
  const std::string file = (folder / name).string();
  std::vector<std::string> arguments = {"data", "synth", "--out", file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  REQUIRE(run_program(arguments).code == 0);
  return file;
}

/// A CSV of books as it is, but for its prices and sizes: those of its first row throughout.
std::string frozen(const TemporaryFolder& folder, const std::string& books) {
  const std::string file = (folder / "frozen.csv").string();
  std::ifstream in(books);
  std::ofstream out(file);
  std::string line, book;
  std::getline(in, line);
  out << line << "\n";
  while (std::getline(in, line)) {
    std::size_t at = 0;
    for (int field = 0; field < 3; ++field) at = line.find(',', at) + 1;
    if (book.empty()) book = line.substr(at);
    out << line.substr(0, at) << book << "\n";
  }
  return file;
}

}  // namespace

TEST_CASE("smoke: alpha-smoketest trains on the bundled books, passes its checks and its gate") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program({"--profile", "alpha-smoketest", "--output", folder.path().string(), "--require-pass", "--set",
                   "smoketest.budget_seconds=3000"});  // how fast this machine is, is not what is tested
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* check : {"parameters_changed", "loss_fell", "losses_finite", "live_path_agrees",
                            "checkpoint_round_trip", "guard_trips_and_recovers"})
    REQUIRE(outcome.out.find(std::string("PASS  ") + check) != std::string::npos);
  for (const char* word : {"mean AUC", "gate: PASS", "up of labels", "phase"})
    REQUIRE((outcome.out + outcome.err).find(word) != std::string::npos);

  const std::filesystem::path run = only_run(folder);
  for (const char* file :
       {"profile.toml", "command.txt", "environment.json", "log.txt", "metrics.jsonl", "metrics.csv", "summary.json",
        "gate.json", "evaluation.json", "report.html", "checkpoints/last.safetensors", "checkpoints/best.safetensors"})
    REQUIRE(std::filesystem::file_size(run / file) > 0);
  const auto summary = json_of(run / "summary.json");
  REQUIRE(summary.at("model") == "alpha");
  REQUIRE(summary.at("iterations") == 400);
  REQUIRE(summary.at("updates") == 400);
  REQUIRE(summary.at("test").at("auc").size() == 5);
  REQUIRE(summary.at("test").at("mean_auc").get<double>() > 0.7);
  REQUIRE(summary.at("gate").at("passed") == true);
  REQUIRE(json_of(run / "gate.json").at("horizons").size() == 5);
  REQUIRE(json_of(run / "evaluation.json").at("splits").at("train").at("labels").size() == 5);
  REQUIRE(file_text(run / "report.html").find("</html>") != std::string::npos);

  const Outcome list = run_program({"runs", "list", "--output", folder.path().string()});
  REQUIRE(list.code == 0);
  REQUIRE(list.out.find("alpha-smoketest") != std::string::npos);
  REQUIRE(run_program({"runs", "show", run.string()}).code == 0);
  REQUIRE(run_program({"report", run.string()}).code == 0);
}

TEST_CASE("smoke: an alpha run repeats to the same bits, and prints one line of JSON") {
  const TemporaryFolder first, second;
  const Outcome outcome = run_program(short_run(first, {"--json", "--set", "smoketest.enabled=false"}));
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  const auto line = nlohmann::json::parse(outcome.out);
  REQUIRE(line.at("exit_code") == 0);
  REQUIRE(line.at("iterations") == 25);
  const Outcome again = run_program({"--repeat", only_run(first).string(), "--output", second.path().string()});
  INFO(again.err);
  REQUIRE(again.code == 0);
  REQUIRE(again.err.find("bit for bit") != std::string::npos);
  REQUIRE(json_of(only_run(second) / "summary.json").at("fingerprint") == line.at("fingerprint"));
}

TEST_CASE("smoke: a dry run of alpha shows data, memory and schedule, and writes nothing") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(
      {"--profile", "alpha-smoketest", "--device", "host", "--output", folder.path().string(), "--dry-run"});
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* word :
       {"up of labels", "snapshots.features", "schedule", "one training step", "nothing was written"})
    REQUIRE(outcome.out.find(word) != std::string::npos);
  REQUIRE(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("smoke: exit 8 when the gate of a random walk is asked to matter, and 0 when it is not") {
  const TemporaryFolder files, folder, other;
  const std::string walk =
      generated(files, "walk.dbn.zst", {"--books", "--kind", "walk", "--rows", "2000", "--sessions", "6"});
  const std::vector<std::string> settings = {"--data", walk, "--set", "smoketest.enabled=false"};
  REQUIRE(run_program(short_run(other, settings)).code == 0);
  std::vector<std::string> strict = settings;
  strict.push_back("--require-pass");
  const Outcome outcome = run_program(short_run(folder, strict));
  INFO(outcome.err);
  REQUIRE(outcome.code == 8);
  REQUIRE(json_of(only_run(folder) / "summary.json").at("gate").at("passed") == false);
  require_refusal({"--profile", "dqn-smoketest", "--require-pass"}, 2, {"--require-pass", "alpha"});
}

TEST_CASE("smoke: data that alpha cannot learn from is exit 3, one line, nothing left behind") {
  const TemporaryFolder files, folder;
  const auto refuse = [&](const std::string& data, const std::vector<std::string>& words,
                          const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = short_run(folder, {"--data", data});
    arguments.insert(arguments.end(), more.begin(), more.end());
    require_refusal(arguments, 3, words);
    REQUIRE(std::filesystem::is_empty(folder.path()));
  };
  refuse((source_dir() / "test_data" / "futures-baseline").string(), {"bars", "mbp-10"});
  refuse((files / "missing.dbn").string(), {"missing.dbn"});
  const std::string walk = generated(
      files, "walk.csv", {"--books", "--kind", "walk", "--rows", "400", "--sessions", "4", "--no-holes", "--no-roll"});
  refuse(walk, {"1000000 rows", "alpha.horizons"}, {"--set", "alpha.horizons=[1,2,3,4,1000000]"});
  refuse(walk, {"validation split", "401 are needed"}, {"--set", "alpha.steps=401"});
  refuse(frozen(files, walk), {"all 1596 labels are ties", "alpha.horizons"});
  const std::string skewed =
      generated(files, "skewed.dbn.zst", {"--books", "--kind", "skewed", "--rows", "1000", "--sessions", "6"});
  refuse(skewed, {"both classes", "alpha.horizons"}, {"--set", "alpha.horizons=[10,50,100,200,400]"});
}

TEST_CASE("smoke: an alpha profile that contradicts itself, or a checkpoint of another shape, is exit 2") {
  const TemporaryFolder folder, runs;
  require_refusal(short_run(folder, {"--set", "alpha.horizons=[5,1,10,25,50]"}), 2, {"alpha.horizons", "ascend"});
  require_refusal(short_run(folder, {"--set", "alpha.horizons=[1,5]"}), 2, {"alpha.horizons", "5 to 5"});
  require_refusal(short_run(folder, {"--set", "alpha.hidden=129"}), 2, {"alpha.hidden", "128"});
  require_refusal(short_run(folder, {"--set", "alpha.hiden=16"}), 2, {"alpha.hiden", "alpha.hidden"});
  require_refusal({"bench", "--profile", "alpha-smoketest"}, 2, {"bench alpha"});
  REQUIRE(run_program(short_run(runs, {"--set", "smoketest.enabled=false"})).code == 0);
  const std::string best = (only_run(runs) / "checkpoints" / "last.safetensors").string();
  const std::string start = "alpha.initial_checkpoint=\"" + best + "\"";
  require_refusal(short_run(folder, {"--set", start, "--set", "alpha.hidden=16"}), 2,
                  {"last.safetensors", "alpha.hidden = 32", "16"});
  REQUIRE(std::filesystem::is_empty(folder.path()));
  REQUIRE(run_program(short_run(folder, {"--set", start, "--set", "smoketest.enabled=false"})).code == 0);
}

TEST_CASE("smoke: exit 5 when a non-finite value stops an alpha run, naming the tensor") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(short_run(folder, {"--set", "optimizer.learning_rate=10", "--set",
                                                         "optimizer.weight_decay=1", "--set", "training.epochs=40"}));
  INFO(outcome.err);
  REQUIRE(outcome.code == 5);
  REQUIRE(outcome.err.rfind("foxhunt-train: error: non-finite value in ", 0) == 0);
  REQUIRE(file_text(only_run(folder) / "log.txt").find("non-finite value in ") != std::string::npos);
}

TEST_CASE("smoke: a failed check, a spent budget and a full disk end an alpha run as they do any other") {
  const TemporaryFolder folder, file;
  require_refusal(short_run(folder, {"--set", "smoketest.budget_seconds=0.001"}), 6, {"smoketest.budget_seconds"});
  std::ofstream(file / "file") << "in the way";
  require_refusal({"--profile", "alpha-smoketest", "--quiet", "--output", (file / "file" / "runs").string()}, 7,
                  {"file"});
  const TemporaryFolder other;
  const Outcome failed = run_program(short_run(other, {"--set", "optimizer.learning_rate=1e-12"}));
  REQUIRE(failed.code == 1);
}

TEST_CASE("smoke: SIGINT finishes the training step, saves and exits 130") {
  const TemporaryFolder folder;
  const std::string command = "cd " + quoted(source_dir().string()) +
                              " && timeout --foreground --preserve-status -s INT 3 " + quoted(FOXHUNT_TRAIN) +
                              " --profile alpha-smoketest --device host --quiet --set training.epochs=100000 "
                              "--set smoketest.enabled=false --output " +
                              quoted(folder.path().string());
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 130);
  REQUIRE(std::filesystem::file_size(only_run(folder) / "checkpoints/last.safetensors") > 0);
  const auto summary = json_of(only_run(folder) / "summary.json");
  REQUIRE(summary.at("reason") == "interrupted by a signal");
  REQUIRE(summary.at("iterations") > 0);
  REQUIRE_FALSE(std::filesystem::exists(only_run(folder) / "gate.json"));
}
