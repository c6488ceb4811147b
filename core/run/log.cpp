#include "core/run/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/error.h"
#include "core/storage.h"

namespace foxhunt::run {
namespace {

spdlog::level::level_enum parse_level(const std::string& text) {
  static const std::array<std::string, 5> kLevels = {"trace", "debug", "info", "warn", "error"};
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    if (kLevels[i] == text) return static_cast<spdlog::level::level_enum>(i);
  const std::string near = nearest_name(text, kLevels);
  throw Error(ExitCode::usage, fmt::format("log level '{}' is unknown{}; choose trace, debug, info, warn or error",
                                           text, near.empty() ? "" : fmt::format(" (nearest: {})", near)));
}

}  // namespace

void start_console_log(const std::string& level) {
  const auto parsed = parse_level(level);
  const bool plain = std::getenv("NO_COLOR") != nullptr;
  auto console = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(plain ? spdlog::color_mode::never
                                                                             : spdlog::color_mode::automatic);
  // On a terminal the line begins where the progress line stands, and wipes it first.
  console->set_pattern(isatty(STDERR_FILENO) ? "\r\033[K%H:%M:%S %^%l%$ %v" : "%H:%M:%S %l %v");
  auto logger = std::make_shared<spdlog::logger>("foxhunt", std::move(console));
  logger->set_level(parsed);
  spdlog::set_default_logger(std::move(logger));
}

void start_log_file(const std::filesystem::path& file) {
  // spdlog would try for a while, and keep errno to itself.
  if (const Descriptor probe(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)); !probe)
    throw storage_error("open", file, errno);
  spdlog::file_event_handlers by_line;
  by_line.after_open = [](const std::string&, std::FILE* stream) { std::setvbuf(stream, nullptr, _IOLBF, BUFSIZ); };
  auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), false, by_line);
  sink->set_formatter(
      std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
  spdlog::default_logger()->sinks().push_back(std::move(sink));
}

void log_error_to_file(const std::string& message) {
  const std::shared_ptr<spdlog::logger> logger = spdlog::default_logger();
  const spdlog::details::log_msg line(logger->name(), spdlog::level::err, message);
  for (std::size_t i = 1; i < logger->sinks().size(); ++i) logger->sinks()[i]->log(line);  // the first is the console
}

}  // namespace foxhunt::run
