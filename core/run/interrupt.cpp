#include "core/run/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

namespace foxhunt::run {
namespace {

std::atomic<int> pending{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// write(2) alone: nothing else here is allowed to write inside a handler.
void say(std::string_view text) {
  const int saved = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  errno = saved;
}

extern "C" void on_signal(int signal) {
  int none = 0;
  if (pending.compare_exchange_strong(none, signal))
    say("\nasked to stop: finishing this iteration and saving (Ctrl-C again quits at once)\n");
  else if (signal == SIGINT)
    ::_exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGXFSZ, SIG_IGN);
}

int pending_signal() noexcept { return pending.load(std::memory_order_relaxed); }

ExitCode pending_exit_code() noexcept {
  switch (pending_signal()) {
    case 0:
      return ExitCode::ok;
    case SIGTERM:
      return ExitCode::terminated;
    default:
      return ExitCode::interrupted;
  }
}

}  // namespace foxhunt::run
