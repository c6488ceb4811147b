#pragma once
#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/profile/difference.h"

namespace foxhunt::app {

/// Each subcommand registers itself and leaves its exit code in `result` when it ran.
void add_data_command(CLI::App& app, ExitCode& result);
void add_profiles_command(CLI::App& app, ExitCode& result);
void add_runs_command(CLI::App& app, ExitCode& result);
void add_report_command(CLI::App& app, ExitCode& result);
void add_doctor_command(CLI::App& app, ExitCode& result);
/// After every other command: the scripts complete what `app` holds.
void add_completion_command(CLI::App& app, ExitCode& result);
void add_eval_command(CLI::App& app, ExitCode& result);
void add_export_command(CLI::App& app, ExitCode& result);
void add_bench_command(CLI::App& app, ExitCode& result);
void add_bench_data(CLI::App& bench, ExitCode& result);
void add_bench_alpha(CLI::App& bench, ExitCode& result);
void add_bench_latency(CLI::App& bench, ExitCode& result);
/// `foxhunt-train --profile NAME ...`, the command itself when no subcommand is named. `command_line` is recorded with
/// the run.
void add_train_command(CLI::App& app, ExitCode& result, std::vector<std::string> command_line);

/// {"training.gamma": ["0.9", "0.99"], ...}
nlohmann::ordered_json side_by_side_json(const std::vector<profile::SideBySide>& rows);

}  // namespace foxhunt::app
