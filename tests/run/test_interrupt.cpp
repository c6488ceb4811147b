#include "core/run/interrupt.h"

#include <fcntl.h>

#include "tests/catch.h"
#include "tests/run/child_process.h"

using namespace foxhunt;
using namespace foxhunt::run;

namespace {

/// Exit status of a child that installs the handlers and then does `work`; its stderr goes nowhere.
template <class Work>
int status_of(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    install_signal_handlers();
    _exit(work());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("interrupt: the first signal leaves word and the process goes on") {
  REQUIRE(pending_signal() == 0);
  REQUIRE(pending_exit_code() == ExitCode::ok);
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = status_of([&] {
      if (pending_signal() != 0) return 1;
      raise(signal);
      return pending_signal() == signal ? static_cast<int>(pending_exit_code()) : 2;
    });
    REQUIRE(status == 128 + signal);
  }
}

TEST_CASE("interrupt: SIGINT after a first signal exits at once with 130") {
  for (const int first : {SIGINT, SIGTERM}) {
    REQUIRE(status_of([&] {
              raise(first);
              raise(SIGINT);
              return 3;
            }) == 130);
  }
}

TEST_CASE("interrupt: SIGTERM after a first signal changes nothing") {
  REQUIRE(status_of([] {
            raise(SIGINT);
            raise(SIGTERM);
            return pending_signal() == SIGINT ? 4 : 5;
          }) == 4);
}

TEST_CASE("interrupt: errno survives the handler, and a write beyond the file size limit is an error") {
  REQUIRE(status_of([] {
            close(STDERR_FILENO);  // so that the handler's own write fails
            errno = EXDEV;
            raise(SIGINT);
            return errno == EXDEV ? 6 : 7;
          }) == 6);

  test::TemporaryFolder folder;
  REQUIRE(status_of([&] {
            const rlimit limit = {10, 10};
            setrlimit(RLIMIT_FSIZE, &limit);
            const int file = open((folder / "x").c_str(), O_WRONLY | O_CREAT, 0600);
            const char text[20] = {};
            return write(file, text, 20) == 10 && write(file, text, 10) == -1 && errno == EFBIG ? 8 : 9;
          }) == 8);
}
