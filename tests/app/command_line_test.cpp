#include "tests/app/run_program.h"

using namespace foxhunt;

TEST_CASE("app: help names the subcommands and every exit code") {
  const test::Outcome help = test::run_program({"--help"});
  REQUIRE(help.code == 0);
  for (const char* word : {"profiles", "data", "bench", "--profile", "--version", "Exit codes:", "130, 143"}) {
    INFO(word);
    REQUIRE(help.out.find(word) != std::string::npos);
  }
  for (const char code : {'0', '1', '2', '3', '4', '5', '6', '7', '8'}) {
    INFO(code);
    REQUIRE(help.out.find(std::string(" ") + code + "  ") != std::string::npos);
  }
}

TEST_CASE("app: the version is printed") {
  const test::Outcome version = test::run_program({"--version"});
  REQUIRE(version.code == 0);
  REQUIRE(version.out.rfind("foxhunt-train ", 0) == 0);
}

TEST_CASE("app: an unknown option or command is refused with the nearest one") {
  test::require_refusal({"--profil", "dqn-smoketest"}, 2, {"unknown option --profil", "did you mean --profile?"});
  test::require_refusal({"--profil=dqn-smoketest"}, 2, {"unknown option --profil;", "did you mean --profile?"});
  test::require_refusal({"profile", "list"}, 2, {"unexpected argument profile", "did you mean profiles?"});
  test::require_refusal({"profiles", "lst"}, 2, {"unexpected argument lst", "did you mean list?"});
  test::require_refusal({"profiles", "show", "x", "--resolvd"}, 2,
                        {"--resolvd", "did you mean --resolved?", "foxhunt-train profiles show --help"});
  test::require_refusal({"profiles", "show"}, 2, {"NAME is required"});
}

TEST_CASE("app: output that cannot be written is an error") {
  const std::string command = std::string(FOXHUNT_TRAIN) + " profiles reference >/dev/full 2>/dev/null";
  const int status = std::system(command.c_str());
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 7);
}
