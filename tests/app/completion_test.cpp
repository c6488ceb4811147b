#include <regex>

#include "tests/app/run_program.h"

using namespace foxhunt::test;

namespace {

std::string script(const char* shell) { return run_program({"completion", shell}).out; }

/// Every --option that the help of `command` and of the commands under it lists.
void collect_options(const std::vector<std::string>& command, std::vector<std::string>& options) {
  std::vector<std::string> arguments = command;
  arguments.push_back("--help");
  const std::string help = run_program(arguments).out;
  const std::regex option("^  (?:-[a-z],)?(--[a-z][a-z-]*)");
  std::istringstream lines(help);
  bool commands = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("Subcommands:", 0) == 0) commands = true;
    if (line.rfind("Exit codes", 0) == 0 || line.rfind("Kinds", 0) == 0) commands = false;
    if (std::smatch found; std::regex_search(line, found, option)) {
      options.push_back(found[1]);
    } else if (commands && line.rfind("  ", 0) == 0 && line[2] != ' ') {
      std::vector<std::string> deeper = command;
      deeper.push_back(line.substr(2, line.find(' ', 2) - 2));
      collect_options(deeper, options);
    }
  }
}

/// What `shell` prints when it runs this in a folder, given its script as $1, the program as $2 and, after these,
/// words.
std::string printed(const std::string& shell, const std::string& commands, const std::vector<std::string>& words,
                    const std::filesystem::path& in) {
  const TemporaryFolder folder;
  std::ofstream(folder / "script") << script(shell.c_str());
  std::ostringstream line;
  line << "cd " << foxhunt::test::quoted(in.string()) << " && " << shell << " -c " << foxhunt::test::quoted(commands)
       << " " << shell << " " << foxhunt::test::quoted((folder / "script").string()) << " "
       << foxhunt::test::quoted(FOXHUNT_TRAIN);
  for (const std::string& word : words) line << " " << foxhunt::test::quoted(word);
  line << " >" << foxhunt::test::quoted((folder / "out").string());
  REQUIRE(std::system(line.str().c_str()) == 0);
  return file_text(folder / "out");
}

/// What bash offers for the words of a command line, the last of them being typed.
std::string completed(const std::vector<std::string>& words, const std::filesystem::path& in = source_dir()) {
  return printed("bash",
                 "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _foxhunt_train;"
                 "printf '%s ' \"${COMPREPLY[@]}\"",
                 words, in);
}

/// The same of zsh, whose completion system is stood in for: "FILES" is where it would list files.
std::string completed_by_zsh(const std::vector<std::string>& words, const std::filesystem::path& in) {
  return printed("zsh",
                 "compadd() { while [[ $1 != -- ]]; do shift; done; shift; printf '%s ' \"$@\"; };"
                 "_files() { printf 'FILES '; };"
                 "f=$1; shift; words=(\"$@\"); CURRENT=$#; source $f",
                 words, in);
}

bool installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null").c_str()) == 0;
}

/// Two runs in runs/, a folder there that is none, and a file.
struct RunsFolder : TemporaryFolder {
  RunsFolder() {
    for (const char* name : {"runs/dqn-one", "runs/dqn-two", "runs/dqn-no-run"})
      std::filesystem::create_directories(*this / name);
    for (const char* file : {"runs/dqn-one/profile.toml", "runs/dqn-two/profile.toml", "dqn-file"})
      std::ofstream(*this / file) << "";
  }
};

}  // namespace

TEST_CASE("completion: the scripts that ship are what the program prints") {
  INFO(
      "write them anew: foxhunt-train completion bash >scripts/completion/foxhunt-train.bash, and zsh into "
      "_foxhunt-train");
  REQUIRE(file_text(source_dir() / "scripts/completion/foxhunt-train.bash") == script("bash"));
  REQUIRE(file_text(source_dir() / "scripts/completion/_foxhunt-train") == script("zsh"));
  require_refusal({"completion", "fish"}, 2, {"fish", "bash"});
}

TEST_CASE("completion: every option of every --help is in both scripts") {
  std::vector<std::string> options;
  collect_options({}, options);
  REQUIRE(options.size() > 40);
  for (const char* shell : {"bash", "zsh"}) {
    const std::string text = script(shell);
    for (const std::string& option : options) {
      INFO(shell << " " << option);
      REQUIRE(std::regex_search(text, std::regex(std::string("[' ]").append(option).append("[' ]"))));
    }
  }
}

TEST_CASE("completion: bash completes commands, options, profiles, keys and devices") {
  REQUIRE(completed({"prof"}) == "profiles ");
  REQUIRE(completed({"profiles", "ch"}) == "check ");
  REQUIRE(completed({"--dr"}) == "--dry-run ");
  REQUIRE(completed({"profiles", "show", "--res"}) == "--resolved ");
  REQUIRE(completed({"--profile", "dqn-smoke"}) == "dqn-smoketest ");
  REQUIRE(completed({"profiles", "diff", "dqn-baseline", "dqn-th"}) == "dqn-throughput ");
  REQUIRE(completed({"--quiet", "--set", "training.gam"}) == "training.gamma= ");
  REQUIRE(completed({"profiles", "reference", "training.gam"}) == "training.gamma ");
  REQUIRE(completed({"bench", "--device", "ho"}) == "host ");
  REQUIRE(completed({"--data", "README"}) == "README.md ");
  REQUIRE(completed({"completion", "--h"}) == "--help ");
}

TEST_CASE("completion: bash offers the names of runs, and files, where a run is asked for") {
  const RunsFolder folder;
  for (const std::vector<std::string>& before :
       {std::vector<std::string>{"--resume"}, {"--repeat"}, {"--quiet", "--resume"}, {"runs", "show"}}) {
    std::vector<std::string> words = before;
    words.emplace_back("dqn");
    CAPTURE(before);
    REQUIRE(completed(words, folder.path()) == "dqn-one dqn-two dqn-file ");
  }
  REQUIRE(completed({"--resume", "runs/dqn-t"}, folder.path()) == "runs/dqn-two ");
}

TEST_CASE("completion: zsh offers the names of runs, and files, where a run is asked for") {
  if (!installed("zsh")) return skip("zsh is not installed");
  const RunsFolder folder;
  for (const char* option : {"--resume", "--repeat"}) {
    CAPTURE(option);
    REQUIRE(completed_by_zsh({option, ""}, folder.path()) == "dqn-one dqn-two FILES ");
  }
  REQUIRE(completed_by_zsh({"--device", ""}, folder.path()) == "auto host cuda:0 ");
}

TEST_CASE("completion: zsh accepts its script") {
  if (!installed("zsh")) return skip("zsh is not installed");
  const TemporaryFolder folder;
  std::ofstream(folder / "script") << script("zsh");
  std::ostringstream line;
  line << "zsh -n " << foxhunt::test::quoted((folder / "script").string());
  REQUIRE(std::system(line.str().c_str()) == 0);
}
