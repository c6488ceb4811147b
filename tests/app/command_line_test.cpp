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

TEST_CASE("app: README lists the exit codes that --help does") {
  const std::string help = test::run_program({"--help"}).out,
                    readme = test::file_text(test::source_dir() / "README.md");
  for (const auto& [code, meaning] : {std::pair("0", "done"),
                                      {"1", "a smoketest check failed"},
                                      {"2", "command line or profile"},
                                      {"3", "market data"},
                                      {"4", "device or memory"},
                                      {"5", "a non-finite value stopped the run"},
                                      {"6", "time budget exceeded"},
                                      {"7", "storage: disk full, read-only, unreadable checkpoint"},
                                      {"8", "a model gate failed and was asked to matter"},
                                      {"130, 143", "interrupted or terminated; state saved"}}) {
    INFO(code);
    REQUIRE(help.find(std::string(code) + "  " + meaning) != std::string::npos);
    REQUIRE(readme.find(std::string("\n| ") + code + " | " + meaning + " |\n") != std::string::npos);
  }
}
