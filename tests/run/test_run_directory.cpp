#include "core/run/run_directory.h"

#include <fnmatch.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;
using test::text_of;

TEST_CASE("run_directory: the folder is named after profile and time, with what is above it made as needed") {
  test::TemporaryFolder folder;
  const auto run = RunDirectory::create(folder / "a/b/runs", "dqn-smoke");
  REQUIRE(run.path().parent_path() == folder / "a/b/runs");
  const std::string name = run.path().filename().string();
  REQUIRE(fnmatch("dqn-smoke-2[0-9][0-9][0-9][0-1][0-9][0-3][0-9]-[0-2][0-9][0-5][0-9][0-6][0-9]", name.c_str(), 0) ==
          0);
  REQUIRE(std::filesystem::is_directory(run.checkpoints()));
}

TEST_CASE("run_directory: runs of the same second and profile get folders of their own") {
  test::TemporaryFolder folder;
  std::set<std::filesystem::path> paths;
  bool numbered = false;
  for (int i = 0; i < 20; ++i) {
    const auto path = RunDirectory::create(folder.path(), "p").path();
    REQUIRE(paths.insert(path).second);
    numbered = numbered || path.string().ends_with("-2");
  }
  REQUIRE(numbered);
}

TEST_CASE("run_directory: a profile's name cannot leave the output folder") {
  test::TemporaryFolder folder;
  for (const std::string name : {"../evil", "a/b", "", "sp ace\n", "\xCE\xB1"}) {
    const auto run = RunDirectory::create(folder / "runs", name);
    REQUIRE(run.path().parent_path() == folder / "runs");
    REQUIRE(run.path().filename().string().find_first_of("/ \n") == std::string::npos);
  }
}

TEST_CASE("run_directory: an output folder that cannot be is an error with its name") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  const std::string error = test::error_of([&] { RunDirectory::create(folder / "file", "p"); });
  REQUIRE(error.starts_with("7 cannot create"));
  REQUIRE(error.find((folder / "file").string()) != std::string::npos);
  REQUIRE(test::error_of([&] { RunDirectory::create(folder.path(), std::string(300, 'n')); }).find("too long") !=
          std::string::npos);
  REQUIRE(test::error_of([] { RunDirectory::create("/proc/runs", "p"); }).starts_with("7 cannot create"));
}

TEST_CASE("run_directory: the command is one line that a shell reads back") {
  test::TemporaryFolder folder;
  const auto run = RunDirectory::create(folder.path(), "p");
  const std::vector<std::string> arguments = {"printf",   "%s|", "--set", "a.b=1", "", "it's \"$HOME\" `x`\\",
                                              "two words"};
  run.write_command(arguments);
  const std::string line = text_of(run.command_file());
  REQUIRE(line.find('\n') == line.size() - 1);

  std::FILE* shell = popen(("sh '" + run.command_file().string() + "'").c_str(), "r");
  char output[200] = {};
  const std::size_t size = std::fread(output, 1, sizeof output, shell);
  pclose(shell);
  REQUIRE(std::string(output, size) == "--set|a.b=1||it's \"$HOME\" `x`\\|two words|");
}

TEST_CASE("run_directory: environment, profile and summary are written whole") {
  test::TemporaryFolder folder;
  const auto run = RunDirectory::create(folder.path(), "p");
  run.write_profile("[run]\nseed = 1\n");
  REQUIRE(text_of(run.profile_file()) == "[run]\nseed = 1\n");

  run.write_environment({{"device", "host"}});
  const auto environment = nlohmann::json::parse(text_of(run.environment_file()));
  for (const char* key : {"hostname", "kernel", "cpu", "compiler", "build_type", "started", "device"}) {
    INFO(key);
    REQUIRE_FALSE(environment.at(key).get<std::string>().empty());
  }
  REQUIRE(environment["cores"].get<int>() >= 1);
  REQUIRE(environment["memory_bytes"].get<std::int64_t>() > 1'000'000);

  run.write_summary({{"z", 1}, {"a", std::numeric_limits<double>::quiet_NaN()}});
  REQUIRE(text_of(run.summary_file()) == "{\n  \"z\": 1,\n  \"a\": \"NaN\"\n}\n");
}

TEST_CASE("run_directory: a run is opened by its folder, and one process at a time writes to it") {
  test::TemporaryFolder folder;
  REQUIRE(test::error_of([&] { RunDirectory::open(folder / "missing"); }).starts_with("2 "));
  REQUIRE(test::error_of([&] { RunDirectory::open(folder.path()); }).find("no profile.toml") != std::string::npos);
  auto first = RunDirectory::create(folder.path(), "p");
  first.write_profile("[run]\n");
  first.lock();
  auto second = RunDirectory::open(first.path());
  REQUIRE(second.path() == first.path());
  REQUIRE(test::error_of([&] { second.lock(); }).find("another process is training here") != std::string::npos);
  { const RunDirectory done = std::move(first); }
  second.lock();
}

TEST_CASE("run_directory: each resume adds its command, its environment and a changed profile") {
  test::TemporaryFolder folder;
  const auto run = RunDirectory::create(folder.path(), "p");
  run.write_profile("first");
  run.write_command(std::vector<std::string>{"train", "--profile", "p"});
  REQUIRE(run.latest_profile_file() == run.profile_file());
  run.record_resume(std::vector<std::string>{"train", "--resume", "a run"}, {{"device", "host"}}, "");
  REQUIRE(run.latest_profile_file() == run.profile_file());
  run.record_resume(std::vector<std::string>{"train", "again"}, {{"device", "other"}}, "third");
  REQUIRE(text_of(run.command_file()) == "train --profile p\ntrain --resume 'a run'\ntrain again\n");
  REQUIRE(run.latest_profile_file() == run.path() / "profile-3.toml");
  REQUIRE(text_of(run.latest_profile_file()) == "third");
  REQUIRE(text_of(run.profile_file()) == "first");
  REQUIRE(nlohmann::json::parse(text_of(run.path() / "environment-2.json"))["device"] == "host");
  REQUIRE(nlohmann::json::parse(text_of(run.path() / "environment-3.json"))["device"] == "other");
}
