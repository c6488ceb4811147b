#include "core/run/run_index.h"

#include "core/run/repeat.h"
#include "core/run/run_directory.h"
#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using Json = nlohmann::ordered_json;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// A folder of runs: `done`, `killed` (no summary), `torn` (half a summary), and what is no run.
struct RunsFolder : test::TemporaryFolder {
  RunsFolder() {
    for (const char* name : {"done", "killed", "torn"}) {
      write(*this / name / "profile.toml", "");
      write(*this / name / "environment.json", R"({"started": "2026-01-02T03:04:05Z", "device": "host, 2 threads"})");
    }
    write(*this / "done/command.txt", "foxhunt-train --profile p\n");
    write(*this / "done/summary.json",
          R"({"reason": "all epochs done", "iterations": 1000, "fingerprint": "abc", "test": {"net_pnl": -423.75,
              "sharpe": "NaN"}, "phases": {"train": {"seconds": 1}}})");
    write(*this / "torn/summary.json", R"({"reason": "all ep)");
    write(*this / "foreign/notes.txt", "x");
    write(*this / "file", "x");
  }
};

Json data(const char* sum) { return {{"source", "/data/es.csv"}, {"files", 1}, {"bytes", 10}, {"xxh64", sum}}; }

}  // namespace

TEST_CASE("run_index: every run is listed, finished or not, and what is no run is passed over") {
  const RunsFolder folder;
  const std::vector<RunRecord> runs = list_runs(folder.path());
  REQUIRE(runs.size() == 3);
  REQUIRE(runs[0].name() == "done");
  REQUIRE(runs[0].state() == "all epochs done");
  REQUIRE(runs[1].state() == "unfinished");
  REQUIRE(runs[2].state() == "damaged");
  REQUIRE(runs[2].problems.size() == 1);
  REQUIRE(runs[2].problems[0].find("summary.json") != std::string::npos);
  const std::string table = runs_table(runs);
  for (const char* word : {"done", "2026-01-02T03:04:05Z", "all epochs done", "1000", "-423.75", "NaN", "unfinished"}) {
    INFO(word);
    REQUIRE(table.find(word) != std::string::npos);
  }
  REQUIRE(run_line(runs[1])["iterations"].is_null());
  REQUIRE(test::error_of([&] { list_runs(folder / "absent"); }).starts_with("2 "));
}

TEST_CASE("run_index: damage of any kind in a run's files is a state of it, never an error") {
  const test::TemporaryFolder folder;
  int number = 0;
  for (const char* text : {"", "[]", "3", "null", "{", "{\"reason\": 3, \"test\": [1], \"iterations\": {}}", "\xff\xfe",
                           "{\"reason\": \"a\\nb\", \"test\": {\"net_pnl\": \"NaN\"}}"}) {
    const std::filesystem::path run = folder / std::to_string(number++);
    write(run / "profile.toml", "");
    write(run / "summary.json", text);
    write(run / "environment.json", text);
  }
  std::filesystem::create_directory(folder / "0/command.txt");
  const std::vector<RunRecord> runs = list_runs(folder.path());
  REQUIRE(runs.size() == static_cast<std::size_t>(number));
  const std::string table = runs_table(runs);
  REQUIRE(std::count(table.begin(), table.end(), '\n') == number + 1);
  for (const RunRecord& run : runs) {
    REQUIRE_FALSE(run_text(run).empty());
    result_differences(run, runs.front());
    bool same = true;
    REQUIRE_FALSE(repeat_verdict(run, "abc", 1, same).empty());
    REQUIRE_FALSE(same);
  }
}

TEST_CASE("run_index: a run is found by folder or name, else the nearest is told") {
  const RunsFolder folder;
  REQUIRE(find_run("done", folder.path()).name() == "done");
  REQUIRE(find_run((folder / "done").string(), "nowhere").name() == "done");
  REQUIRE(find_run((folder / "done/").string(), "nowhere").name() == "done");
  const auto refusal = [&](const std::string& name) { return test::error_of([&] { find_run(name, folder.path()); }); };
  REQUIRE(refusal("dome").find("did you mean done?") != std::string::npos);
  REQUIRE(refusal((folder / "foreign").string()).find("holds profile.toml") != std::string::npos);
  REQUIRE(refusal("").starts_with("2 no run"));
}

TEST_CASE("run_index: results are compared figure by figure, without times of phases") {
  RunRecord a, b;
  a.summary = Json::parse(R"({"iterations": 5, "test": {"net_pnl": 1.5, "trades": 2}, "phases": {"x": 1}})");
  b.summary = Json::parse(R"({"iterations": 5, "test": {"net_pnl": 2.5, "trades": 2}, "phases": {"x": 2}, "seed": 7})");
  const auto rows = result_differences(a, b);
  REQUIRE(rows.size() == 2);
  REQUIRE(rows[0].name == "test.net_pnl");
  REQUIRE(rows[0].first == "1.5");
  REQUIRE(rows[0].second == "2.5");
  REQUIRE(rows[1].name == "seed");
  REQUIRE(rows[1].first == "-");
  REQUIRE(result_differences(a, a).empty());
}

TEST_CASE("repeat: data that is not the run's is refused, whatever its name") {
  RunRecord run;
  run.folder = "runs/x";
  run.environment = {{"data", data("00ff")}};
  REQUIRE_NOTHROW(require_same_data(run, data("00ff")));
  Json moved = data("00ff");
  moved["source"] = "/elsewhere/es.csv";
  REQUIRE_NOTHROW(require_same_data(run, moved));
  const auto refusal = [&](const Json& now) { return test::error_of([&] { require_same_data(run, now); }); };
  REQUIRE(refusal(data("00fe")).starts_with("3 /data/es.csv: the data has changed since run x"));
  REQUIRE(refusal(data("00fe")).find("runs/x/profile.toml") != std::string::npos);
  Json longer = data("00ff");
  longer["bytes"] = 11;
  REQUIRE(refusal(longer).starts_with("3 "));
  run.environment = {{"device", "host"}};
  REQUIRE(refusal(data("00ff")).find("does not say which data") != std::string::npos);
}

TEST_CASE("repeat: another kind of device or another build is warned of") {
  REQUIRE(device_kind("cuda:1, NVIDIA H200, sm_90, 139.3 GiB free of 139.8") == "NVIDIA H200, sm_90");
  REQUIRE(device_kind("host, 2 threads (no GPU)") == "host");
  RunRecord run;
  run.folder = "runs/x";
  run.environment = {{"device", "cuda:0, NVIDIA H200, sm_90, 1.0 GiB free of 139.8"}, {"program_xxh64", "1"}};
  Json now = {{"device", "cuda:3, NVIDIA H200, sm_90, 139.0 GiB free of 139.8"}, {"program_xxh64", "1"}};
  REQUIRE(repeat_warnings(run, now).empty());
  now["program_xxh64"] = "2";
  REQUIRE(repeat_warnings(run, now).size() == 1);
  now["device"] = "host, 8 threads";
  REQUIRE(repeat_warnings(run, now).size() == 2);
}

TEST_CASE("repeat: the verdict says whether the parameters are the same") {
  RunRecord run;
  run.folder = "runs/x";
  run.summary = {{"fingerprint", "abc"}, {"iterations", 5}, {"reason", "interrupted"}};
  bool same = false;
  REQUIRE(repeat_verdict(run, "abc", 5, same).find("the same parameters as x") != std::string::npos);
  REQUIRE(same);
  REQUIRE(repeat_verdict(run, "abd", 9, same).find("after 5 (interrupted)") != std::string::npos);
  REQUIRE_FALSE(same);
}
