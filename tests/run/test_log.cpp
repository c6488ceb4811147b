#include "core/run/log.h"

#include <fnmatch.h>
#include <spdlog/spdlog.h>

#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;

namespace {

bool matches(const std::string& text, const char* pattern) { return fnmatch(pattern, text.c_str(), 0) == 0; }

/// Runs `work` in a child with its stderr in `console`; spdlog's default logger is then the child's alone.
template <class Work>
void in_child(const std::filesystem::path& console, Work work) {
  const pid_t child = fork();
  if (child == 0) {
    if (!std::freopen(console.c_str(), "w", stderr)) _exit(1);
    work();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("log: lines at and above the level go to console and file") {
  test::TemporaryFolder folder;
  in_child(folder / "console", [&] {
    start_console_log("warn");
    spdlog::warn("before");
    start_log_file(folder / "log.txt");
    spdlog::info("unseen");
    spdlog::error("after");
  });
  REQUIRE(matches(test::text_of(folder / "console"), "??:??:?? warning before\n??:??:?? error after\n"));
  REQUIRE(matches(test::text_of(folder / "log.txt"), "20*-*-*T*:*:*.*Z error after\n"));
}

TEST_CASE("log: the last lines are in the file when the process is killed") {
  test::TemporaryFolder folder;
  in_child(folder / "console", [&] {
    start_console_log("trace");
    start_log_file(folder / "log.txt");
    spdlog::trace("last words");
    kill(getpid(), SIGKILL);
  });
  REQUIRE(test::text_of(folder / "log.txt").ends_with("trace last words\n"));
}

TEST_CASE("log: an unknown level and a file that cannot be opened are errors") {
  const std::string level = test::error_of([] { start_console_log("warning"); });
  REQUIRE(level.starts_with("2 log level 'warning' is unknown (nearest: warn)"));
  REQUIRE(test::error_of([] { start_log_file("/no/such/folder/log.txt"); }).starts_with("7 cannot open "));
}
