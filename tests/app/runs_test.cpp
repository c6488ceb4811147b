// What is done with whole runs from the command line: tried dry, repeated, listed, compared; and this machine examined.
#include <nlohmann/json.hpp>

#include "tests/app/run_program.h"

using namespace foxhunt::test;
using Json = nlohmann::json;

namespace {

std::vector<std::string> run_of(const TemporaryFolder& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"--profile", "dqn-smoketest",
                                        "--device",  "host",
                                        "--quiet",   "--json",
                                        "--output",  folder.path().string(),
                                        "--set",     "training.epochs=2",
                                        "--set",     "smoketest.enabled=false"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The JSON object on the last line of standard output.
Json last_line(const Outcome& outcome) {
  INFO(outcome.out << outcome.err);
  REQUIRE_FALSE(outcome.out.empty());
  REQUIRE(outcome.out.back() == '\n');
  const std::size_t end = outcome.out.size() - 1, begin = outcome.out.rfind('\n', end - 1);
  return Json::parse(outcome.out.substr(begin == std::string::npos ? 0 : begin + 1));
}

}  // namespace

TEST_CASE("runs: --json ends a run with one line, and an error too") {
  const TemporaryFolder folder;
  const Outcome outcome = run_program(run_of(folder, {"--set", "gpu_profile=auto"}));
  REQUIRE(outcome.code == 0);
  const Json line = last_line(outcome);
  REQUIRE(line.at("exit_code") == 0);
  REQUIRE(line.at("iterations") == 100);
  REQUIRE(line.at("fingerprint").is_string());
  const std::filesystem::path run = line.at("run").get<std::string>();
  REQUIRE(std::filesystem::exists(run / "summary.json"));
  REQUIRE(file_text(run / "profile.toml").find("gpu_profile = \"none\" ") != std::string::npos);  // the host is no card
  const Outcome wrong = run_program({"--profile", "dqn-smoketset", "--json"});
  REQUIRE(wrong.code == 2);
  REQUIRE(last_line(wrong).at("exit_code") == 2);
  REQUIRE(last_line(wrong).at("error").get<std::string>().find("dqn-smoketest") != std::string::npos);
  REQUIRE(last_line(run_program({"--jsn", "--json"})).at("exit_code") == 2);
}

TEST_CASE("runs: --dry-run shows data, memory and schedule, and writes nothing") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_program({"--profile", "dqn-smoketest", "--device", "host", "--output", (folder / "runs").string(), "--set",
                   "data.cache=" + (folder / "cache").string(), "--dry-run", "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  for (const char* word : {"device: host", "11920 rows", "feature_table", "total", "memory: needs",
                           "20 epochs of 50 iterations, 1000 in all", "from iteration 16", "one iteration: "}) {
    INFO(word);
    REQUIRE(outcome.out.find(word) != std::string::npos);
  }
  REQUIRE(last_line(outcome).at("dry_run") == true);
  REQUIRE(last_line(outcome).at("iteration").at("guard_trips") == 0);
  REQUIRE(std::filesystem::is_empty(folder.path()));
  require_refusal({"--profile", "dqn-smoketest", "--dry-run", "--data", "none.csv"}, 3, {"none.csv"});
}

TEST_CASE("runs: a seed that is not set is drawn and recorded, and the run can be repeated to the same bits") {
  const TemporaryFolder folder, again, files;
  const std::filesystem::path data = files / "bars.dbn.zst", profile = files / "drawn.toml";
  std::filesystem::copy(source_dir() / "test_data/futures-baseline/es-baseline.ohlcv-1m.dbn.zst", data);
  // The smoketest's sizes without its seed.
  std::string text = file_text(source_dir() / "profiles/dqn-smoketest.toml");
  text.erase(text.find("seed = 42\n"), 10);
  std::ofstream(profile) << text;
  std::vector<std::string> arguments = run_of(folder, {"--data", data.string()});
  arguments[1] = profile.string();
  const Json first = last_line(run_program(arguments)), second = last_line(run_program(arguments));
  REQUIRE(first.at("seed") != second.at("seed"));
  const std::string run = first.at("run");
  REQUIRE(file_text(std::filesystem::path(run) / "profile.toml").find("seed = " + first.at("seed").dump() + " ") !=
          std::string::npos);
  const Json environment = Json::parse(file_text(std::filesystem::path(run) / "environment.json"));
  REQUIRE(environment.at("data").at("bytes") == std::filesystem::file_size(data));

  const std::vector<std::string> repeat = {"--repeat", run, "--json", "--output", again.path().string()};
  const Outcome repeated = run_program(repeat);
  REQUIRE(repeated.code == 0);
  REQUIRE(last_line(repeated).at("fingerprint") == first.at("fingerprint"));
  REQUIRE(repeated.err.find("the same parameters as ") != std::string::npos);
  REQUIRE(last_line(repeated).at("seed") == first.at("seed"));

  // The same bars with one more byte behind them.
  std::filesystem::remove_all(again.path());
  std::ofstream(data, std::ios::app) << std::string("\x50\x2a\x4d\x18\0\0\0\0", 8);  // an empty skippable zstd frame
  require_refusal({"--repeat", run, "--quiet", "--output", again.path().string()}, 3,
                  {"bars.dbn.zst", "the data has changed since run ", "--profile"});
  REQUIRE_FALSE(std::filesystem::exists(again.path()));
  require_refusal({"--repeat", run, "--set", "run.seed=1"}, 2, {"--repeat", "--set"});
  require_refusal({"--repeat", "no-such-run", "--output", folder.path().string()}, 2, {"no run \"no-such-run\""});
}

TEST_CASE("runs: list, show and compare") {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  const Json a = last_line(run_program(run_of(folder))),
             b = last_line(run_program(run_of(folder, {"--set", "training.gamma=0.5"})));
  std::filesystem::create_directory(folder / "foreign");
  std::filesystem::create_directory(folder / "half");
  std::ofstream(folder / "half/profile.toml") << "[run]\nseed = 1\n";
  const auto name = [](const Json& run) {
    return std::filesystem::path(run.at("run").get<std::string>()).filename().string();
  };
  const Outcome list = run_program({"runs", "list", "--output", root});
  REQUIRE(list.code == 0);
  REQUIRE(std::count(list.out.begin(), list.out.end(), '\n') == 4);
  for (const std::string& word : {name(a), name(b), std::string("half"), std::string("unfinished")})
    REQUIRE(list.out.find(word) != std::string::npos);
  REQUIRE(Json::parse(run_program({"runs", "list", "--output", root, "--json"}).out).size() == 3);

  const Outcome show = run_program({"runs", "show", name(a), "--output", root});
  REQUIRE(show.code == 0);
  REQUIRE(show.out.find(a.at("fingerprint").get<std::string>()) != std::string::npos);
  REQUIRE(show.out.find("--profile dqn-smoketest") != std::string::npos);

  const Outcome compare = run_program({"runs", "compare", name(a), name(b), "--output", root, "--json"});
  REQUIRE(compare.code == 0);
  const Json differences = Json::parse(compare.out);
  REQUIRE(differences.at("profile") == Json::parse(R"({"training.gamma": ["0.99", "0.5"]})"));
  REQUIRE(differences.at("result").at("fingerprint")[0] == a.at("fingerprint"));
  REQUIRE(run_program({"runs", "compare", name(a), name(b), "--output", root}).out.find("training.gamma  0.99") !=
          std::string::npos);
  require_refusal({"runs", "list", "--output", root + "/none"}, 2, {"/none"});
  require_refusal({"runs", "show", "hal", "--output", root}, 2, {"did you mean half?"});
}

TEST_CASE("doctor: this machine is examined, and what a run would end with is the exit code") {
  const Outcome well = run_program({"doctor", "--device", "host"});
  INFO(well.out << well.err);
  REQUIRE(well.code == 0);
  for (const char* word : {"program", "cpu", "memory", "gpu", "disk", "profiles", "time zones", "data"})
    REQUIRE(well.out.find(word) != std::string::npos);
  REQUIRE(last_line(run_program({"doctor", "--device", "cuda:63", "--json"})).at("exit_code") == 4);
  REQUIRE(run_program({"doctor", "--device", "cuda:63"}).code == 4);
  REQUIRE(run_program({"doctor", "--device", "host", "--data", "none.csv"}).code == 3);
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "in the way";
  REQUIRE(run_program({"doctor", "--device", "host", "--output", (folder / "file" / "runs").string()}).code == 7);
}
