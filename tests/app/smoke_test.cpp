// Whole runs through the binary: what comes out, what is left behind, and every exit code.
#include <sys/resource.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

/// A smoke run short enough to be repeated.
std::vector<std::string> short_run(const TemporaryFolder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"--profile", "dqn-smoketest",
                                        "--device",  "host",
                                        "--output",  folder.path().string(),
                                        "--set",     "training.epochs=4",
                                        "--set",     "evaluation.every_epochs=2"};
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

bool empty(const TemporaryFolder& folder) { return std::filesystem::is_empty(folder.path()); }

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

/// Runs a shell command line in which $FOXHUNT is the program; gives its exit code.
int shell(const std::string& command) {
  const std::string line = "cd " + quoted(source_dir().string()) + " && FOXHUNT=" + quoted(FOXHUNT_TRAIN) + "; " +
                           command + " >/dev/null 2>&1";
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("smoke: dqn-smoketest trains on the bundled data and every check passes") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program({"--profile", "dqn-smoketest", "--output", folder.path().string(), "--set",
                                       "smoketest.budget_seconds=3000"});  // how fast this machine is, is not tested
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* check : {"parameters_changed", "replay_filled", "losses_finite", "rewards_sum_to_equity",
                            "action_entropy", "checkpoint_round_trip", "guard_trips_and_recovers"})
    REQUIRE(outcome.out.find(std::string("PASS  ") + check) != std::string::npos);
  REQUIRE(outcome.out.find("FAIL") == std::string::npos);
  for (const char* word : {"net $", "gross $", "trades", "Sharpe", "Sortino", "drawdown", "hit", "flat", "buy_and_hold",
                           "random", "momentum", "actions on test", "phase"})
    REQUIRE(outcome.out.find(word) != std::string::npos);

  const std::filesystem::path run = only_run(folder);
  for (const char* file :
       {"profile.toml", "command.txt", "environment.json", "log.txt", "metrics.jsonl", "validation.jsonl",
        "summary.json", "checkpoints/last.safetensors", "checkpoints/best.safetensors"})
    REQUIRE(std::filesystem::file_size(run / file) > 0);
  const auto summary = nlohmann::json::parse(file_text(run / "summary.json"));
  REQUIRE(summary.at("iterations") == 1000);
  REQUIRE(summary.at("checks").size() == 7);
  REQUIRE(summary.at("periods_per_year").get<double>() > 200);
  REQUIRE(summary.at("baselines").size() == 4);
  REQUIRE(summary.at("baselines").at("flat").at("net_pnl") == 0.0);
  REQUIRE(summary.at("baselines").at("buy_and_hold").at("time_in_market") == 1.0);
  for (const auto& result : {summary.at("validation"), summary.at("test"), summary.at("baselines").at("random")}) {
    REQUIRE(result.at("net_pnl").get<double>() ==
            Approx(result.at("gross_pnl").get<double>() - result.at("costs").get<double>()));
    REQUIRE(result.at("contracts_traded").get<double>() > 0);
    REQUIRE(result.at("hit_rate").get<double>() >= 0);
    REQUIRE(result.at("sortino").is_number());
  }
  std::istringstream lines(file_text(run / "metrics.jsonl"));
  std::int64_t last_step = 0, count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto metrics = nlohmann::json::parse(line);
    REQUIRE(metrics.at("step").get<std::int64_t>() > last_step);
    last_step = metrics.at("step").get<std::int64_t>();
    REQUIRE(metrics.at("loss").is_number());
  }
  REQUIRE(last_step == 1000);
  REQUIRE(count > 10);
}

TEST_CASE("smoke: the resolved profile of a run trains again to the same parameters") {
  const TemporaryFolder first, second;
  REQUIRE(run_program(short_run(first)).code == 0);
  const std::string profile = (only_run(first) / "profile.toml").string();
  REQUIRE(run_program({"--profile", profile, "--output", second.path().string()}).code == 0);
  const auto fingerprint = [](const TemporaryFolder& folder) {
    return nlohmann::json::parse(file_text(only_run(folder) / "summary.json")).at("fingerprint").get<std::string>();
  };
  REQUIRE(fingerprint(first) == fingerprint(second));
}

TEST_CASE("smoke: --quiet prints nothing") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(short_run(folder, {"--quiet"}));
  REQUIRE(outcome.code == 0);
  REQUIRE(outcome.out.empty());
  REQUIRE(outcome.err.empty());
}

TEST_CASE("smoke: a check that fails makes the exit code 1") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(short_run(folder, {"--set", "smoketest.min_action_entropy=1.7"}));
  REQUIRE(outcome.code == 1);
  REQUIRE(outcome.out.find("FAIL  action_entropy") != std::string::npos);
}

TEST_CASE("smoke: exit 5 when a non-finite value stops the run, naming the tensor, and the log keeps the reason") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(short_run(folder, {"--quiet", "--set", "environment.reward_scale=1e-37"}));
  INFO(outcome.err);
  REQUIRE(outcome.code == 5);
  REQUIRE(outcome.err.rfind("foxhunt-train: error: non-finite value in ", 0) == 0);
  REQUIRE(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  REQUIRE(file_text(only_run(folder) / "log.txt").find("non-finite value in ") != std::string::npos);
}

TEST_CASE("smoke: exit 6 over the time budget") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(short_run(folder, {"--quiet", "--set", "smoketest.budget_seconds=0.001"}));
  INFO(outcome.err);
  REQUIRE(outcome.code == 6);
  REQUIRE(outcome.err.find("smoketest.budget_seconds") != std::string::npos);
}

// timeout signals its whole process group too, which would be a second SIGINT, unless it stays in the foreground.
TEST_CASE("smoke: SIGINT finishes the iteration, saves and exits 130, and SIGTERM 143") {
  for (const auto& [signal, code] : {std::pair{"INT", 130}, std::pair{"TERM", 143}}) {
    const TemporaryFolder folder;
    const std::string command =
        "timeout --foreground --preserve-status -s " + std::string(signal) +
        " 3 \"$FOXHUNT\" --profile dqn-smoketest --device host --quiet --set training.epochs=100000 "
        "--set smoketest.enabled=false --output " +
        quoted(folder.path().string());
    REQUIRE(shell(command) == code);
    REQUIRE(std::filesystem::file_size(only_run(folder) / "checkpoints/last.safetensors") > 0);
    const auto summary = nlohmann::json::parse(file_text(only_run(folder) / "summary.json"));
    REQUIRE(summary.at("reason") == "interrupted by a signal");
    REQUIRE(summary.at("iterations") > 0);
  }
}

TEST_CASE("smoke: bad data is exit 3, one line, nothing left behind") {
  const TemporaryFolder files, folder;
  write(files / "empty.csv", "");
  write(files / "not-dbn.dbn", "time,open,high,low,close,volume\n");
  write(files / "short.csv",
        "time,open,high,low,close,volume\n2024-01-02 14:30:00,1,1,1,1,1\n2024-01-02 14:31:00,1,1,1,1,1\n"
        "2024-01-02 14:32:00,1,1,1,1,1\n2024-01-02 14:33:00,1,1,1,1,1\n");
  const auto refuse = [&](const std::string& file, const std::vector<std::string>& words) {
    std::vector<std::string> arguments = short_run(folder, {"--quiet", "--data", (files / file).string()});
    require_refusal(arguments, 3, words);
    REQUIRE(empty(folder));
  };
  refuse("missing.dbn", {"missing.dbn"});
  refuse("empty.csv", {"empty.csv"});
  refuse("not-dbn.dbn", {"not-dbn.dbn"});
  refuse("short.csv", {"split"});
}

TEST_CASE("smoke: a profile that contradicts itself or the command line is exit 2") {
  const TemporaryFolder folder;
  require_refusal(short_run(folder, {"--set", "training.batch_sice=8"}), 2, {"batch_sice", "training.batch_size"});
  require_refusal(short_run(folder, {"--set", "training.batch_size=512"}), 2, {"batch_size", "buffer_size"});
  require_refusal({"--profile", "dqn-smoketset"}, 2, {"dqn-smoketest"});
  require_refusal({}, 2, {"--profile"});
  REQUIRE(empty(folder));
}

TEST_CASE("smoke: a GPU that is not there is exit 4 with the way out") {
  const TemporaryFolder folder;
  require_refusal({"--profile", "dqn-smoketest", "--device", "cuda:63", "--output", folder.path().string()}, 4,
                  {"cuda:63", "--device auto or host"});
  require_refusal(short_run(folder, {"--quiet", "--set", "device.memory_limit=1"}), 4, {"needs", "buffer_size"});
  REQUIRE(empty(folder));
}

TEST_CASE("smoke: an output that cannot be written is exit 7") {
  const TemporaryFolder folder;
  write(folder / "file", "in the way");
  std::vector<std::string> arguments = {
      "--profile", "dqn-smoketest", "--device", "host", "--quiet", "--output", (folder / "file" / "runs").string()};
  require_refusal(arguments, 7, {"file"});
  // A disk that fills up while the checkpoint is written: files may not grow beyond 64 KiB.
  const std::string command =
      "ulimit -f 64; \"$FOXHUNT\" --profile dqn-smoketest --device host --quiet --set "
      "training.epochs=2 --output " +
      quoted((folder / "full").string());
  REQUIRE(shell(command) == 7);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "full"))
    REQUIRE(entry.path().extension() != ".tmp");
}
