#pragma once
#include <filesystem>
#include <string>

namespace foxhunt::run {

/// spdlog's default logger writes to stderr, coloured on a terminal unless NO_COLOR is set, what is at or above
/// `level`: trace, debug, info, warn, error. Throws Error(usage) for another word.
void start_console_log(const std::string& level);

/// The default logger writes to `file` too, with UTC times, a line at a time: a line that was logged is in the file
/// whatever becomes of the process. For the time when no other thread logs. Throws Error(storage).
void start_log_file(const std::filesystem::path& file);

/// Writes the error that ends a run into the log file alone; the console hears of it from whoever catches it.
void log_error_to_file(const std::string& message);

}  // namespace foxhunt::run
