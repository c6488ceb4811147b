#pragma once
#include "core/error.h"

namespace foxhunt::run {

/// From now on the first SIGINT or SIGTERM only leaves word here, and a SIGINT after it exits at once with 130. SIGXFSZ
/// is ignored, so that a write beyond `ulimit -f` is an error with a message and not the end of the process.
void install_signal_handlers();

/// The signal that asked the run to finish what it is doing, save and leave: SIGINT, SIGTERM, or 0 while there was
/// none.
int pending_signal() noexcept;

/// interrupted or terminated for the pending signal, ok without one.
ExitCode pending_exit_code() noexcept;

}  // namespace foxhunt::run
