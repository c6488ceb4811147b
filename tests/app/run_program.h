#pragma once
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace foxhunt::test {

struct Outcome {
  int code;  ///< exit code; 128 + n when signal n ended it
  std::string out, err;
};

inline std::string file_text(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// A word as the shell takes it literally.
inline std::string quoted(const std::string& word) {
  std::string text(1, '\'');
  for (const char c : word) c == '\'' ? text.append("'\\''") : text.append(1, c);
  return text.append(1, '\'');
}

/// Runs foxhunt-train with these arguments, in the source folder; `before` are words of a command that starts it.
inline Outcome run_program(const std::vector<std::string>& arguments, const std::string& before = "") {
  const TemporaryFolder folder;
  std::string command = "cd ";
  command.append(quoted(source_dir().string())).append(" && exec ").append(before).append(" ");
  command.append(quoted(FOXHUNT_TRAIN));
  for (const std::string& argument : arguments) command.append(" ").append(quoted(argument));
  command.append(" >").append(quoted((folder / "out").string()));
  command.append(" 2>").append(quoted((folder / "err").string()));
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, file_text(folder / "out"), file_text(folder / "err")};
}

/// Requires that the program refused: this exit code, nothing on standard output, one line on standard error that opens
/// as every error does and holds `words`.
inline void require_refusal(const std::vector<std::string>& arguments, int code, const std::vector<std::string>& words,
                            const std::string& before = "") {
  const Outcome outcome = run_program(arguments, before);
  INFO(outcome.err);
  REQUIRE(outcome.code == code);
  REQUIRE(outcome.out.empty());
  REQUIRE(outcome.err.rfind("foxhunt-train: error: ", 0) == 0);
  REQUIRE(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  for (const std::string& word : words) {
    INFO("missing: " << word);
    REQUIRE(outcome.err.find(word) != std::string::npos);
  }
}

}  // namespace foxhunt::test
