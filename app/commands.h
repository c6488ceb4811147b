#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/error.h"

namespace foxhunt::app {

/// Each subcommand registers itself and leaves its exit code in `result` when it ran.
void add_data_command(CLI::App& app, ExitCode& result);
void add_profiles_command(CLI::App& app, ExitCode& result);
void add_eval_command(CLI::App& app, ExitCode& result);
void add_export_command(CLI::App& app, ExitCode& result);
void add_bench_command(CLI::App& app, ExitCode& result);
void add_bench_data(CLI::App& bench, ExitCode& result);
/// `foxhunt-train --profile NAME ...`, the command itself when no subcommand is named. `command_line` is recorded with
/// the run.
void add_train_command(CLI::App& app, ExitCode& result, std::vector<std::string> command_line);

}  // namespace foxhunt::app
