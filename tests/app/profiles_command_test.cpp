#include <regex>
#include <sstream>

#include "core/profile/loader.h"
#include "core/profile/printer.h"
#include "tests/app/run_program.h"

using namespace foxhunt;

TEST_CASE("app: profiles list names every shipped profile with its description") {
  const test::Outcome list = test::run_program({"profiles", "list"});
  REQUIRE(list.code == 0);
  for (const char* name : {"dqn-smoketest", "dqn-baseline", "dqn-throughput"}) {
    const std::string description = profile::load_profile(name, {}, {{test::source_dir() / "profiles"}}).description;
    INFO(name);
    REQUIRE(list.out.find(name) != std::string::npos);
    REQUIRE(list.out.find(description) != std::string::npos);
  }
}

TEST_CASE("app: profiles show prints the file, or the whole resolved profile") {
  const test::Outcome plain = test::run_program({"profiles", "show", "dqn-smoketest"});
  REQUIRE(plain.code == 0);
  REQUIRE(plain.out == test::file_text(test::source_dir() / "profiles" / "dqn-smoketest.toml"));

  const test::Outcome resolved = test::run_program({"profiles", "show", "dqn-smoketest", "--resolved", "--set",
                                                    "training.gamma=0.5", "--set", "network.hidden=[8, 8]"});
  REQUIRE(resolved.code == 0);
  const profile::Profile expected = profile::load_profile(
      "dqn-smoketest", {"training.gamma=0.5", "network.hidden=[8, 8]"}, {{test::source_dir() / "profiles"}});
  REQUIRE(resolved.out == profile::to_toml(expected));
}

TEST_CASE("app: profiles check tells good files from bad ones") {
  const test::TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  std::ofstream(file) << "[training]\ngamma = 0.5\n";
  const test::Outcome good = test::run_program({"profiles", "check", file});
  REQUIRE(good.code == 0);
  REQUIRE(good.out.find("mine.toml: ok") != std::string::npos);
  std::ofstream(file) << "[training]\ngama = 0.5\n";
  test::require_refusal({"profiles", "check", file}, 2, {"mine.toml:2", "training.gama", "training.gamma"});
  test::require_refusal({"profiles", "check", "dqn-smoketest", "--set", "training.batch_size=512"}, 2,
                        {"--set training.batch_size=512", "training.buffer_size = 256"});
  test::require_refusal({"profiles", "check", "dqn-smoketes"}, 2, {"did you mean dqn-smoketest?"});
}

TEST_CASE("app: profiles reference prints the schema") {
  const test::Outcome reference = test::run_program({"profiles", "reference"});
  std::ostringstream expected;
  profile::print_reference(expected);
  REQUIRE(reference.code == 0);
  REQUIRE(reference.out == expected.str());
  test::require_refusal({"profiles", "reference", "trainin"}, 2, {"did you mean training?"});
}

TEST_CASE("app: profiles diff shows what differs, side by side or as JSON") {
  const test::Outcome diff = test::run_program({"profiles", "diff", "dqn-smoketest", "dqn-baseline"});
  REQUIRE(diff.code == 0);
  REQUIRE(diff.out.rfind("key ", 0) == 0);
  REQUIRE(std::regex_search(diff.out, std::regex("\ntraining\\.batch_size +32 +512\n")));
  REQUIRE(diff.out.find("training.gamma") == std::string::npos);
  REQUIRE(diff.out.find("description") == std::string::npos);
  const test::Outcome json = test::run_program({"profiles", "diff", "dqn-smoketest", "dqn-baseline", "--json"});
  REQUIRE(json.out.find("\"training.batch_size\":[\"32\",\"512\"]") != std::string::npos);
  const test::Outcome same = test::run_program({"profiles", "diff", "dqn-smoketest", "dqn-smoketest"});
  REQUIRE(same.code == 0);
  REQUIRE(std::count(same.out.begin(), same.out.end(), '\n') == 1);
  test::require_refusal({"profiles", "diff", "dqn-smoketest", "dqn-baselin"}, 2, {"did you mean dqn-baseline?"});
}
