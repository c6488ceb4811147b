#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/profile/profile.h"
#include "core/run/market_input.h"
#include "core/run/repeat.h"
#include "core/run/run_directory.h"

namespace foxhunt::run {

/// What the command line says of a training run, whichever model it trains.
struct TrainingRunOptions {
  std::vector<std::string> command_line;  ///< recorded in the run directory
  bool quiet = false;                     ///< no progress, no tables
  bool json = false;  ///< the last line of standard output is the summary as one JSON object with exit_code and run
  bool require_pass = false;           ///< a gate that says FAIL makes the exit code gate_failed
  std::optional<RunRecord> repeats{};  ///< this run has to find the same data, and says how it compares
  OpenBookModel open_book_model = no_book_model;
};

/// How a profile wants its device; FOXHUNT_GRAPHS=0 in the environment turns recorded graphs off.
DeviceOptions device_options(const profile::Profile& profile);

/// What environment.json tells beside the machine: the device and the data.
nlohmann::ordered_json surroundings(const Device& device, const nlohmann::ordered_json& data);

/// The folder of a run that begins: with its profile, command and environment.
RunDirectory make_directory(const profile::Profile& profile, const TrainingRunOptions& options,
                            const nlohmann::ordered_json& surroundings);

/// Logs what of the machine differs from that of the run that is repeated; and, once it is over, whether it came to the
/// same parameters.
void warn_of_repeat(const RunRecord& repeats, const nlohmann::ordered_json& surroundings);
void compare_with_repeated(const RunRecord& repeats, std::uint64_t fingerprint, std::int64_t iterations);

/// Prints the line that --json asks for.
void print_json(const nlohmann::ordered_json& summary, const RunDirectory& directory, ExitCode code);

}  // namespace foxhunt::run
