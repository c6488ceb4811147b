#include "core/run/training_run.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/profile/printer.h"
#include "core/run/environment.h"
#include "core/run/json.h"

namespace foxhunt::run {

DeviceOptions device_options(const profile::Profile& profile) {
  DeviceOptions options;
  options.host_threads = static_cast<int>(profile.device.host_threads);
  // For the checking tools and for finding the kernel behind a failure: launch by launch, each waited for.
  const char* graphs = std::getenv("FOXHUNT_GRAPHS");
  options.graphs = !(graphs && std::string(graphs) == "0");
  return options;
}

nlohmann::ordered_json surroundings(const Device& device, const nlohmann::ordered_json& data) {
  return {{"device", device.description()}, {"data", data}};
}

RunDirectory make_directory(const profile::Profile& profile, const TrainingRunOptions& options,
                            const nlohmann::ordered_json& more) {
  RunDirectory directory = RunDirectory::create(profile.run.output, profile.name);
  directory.lock();
  directory.write_profile(profile::to_toml(profile));
  directory.write_command(options.command_line);
  directory.write_environment(more);
  return directory;
}

void warn_of_repeat(const RunRecord& repeats, const nlohmann::ordered_json& more) {
  nlohmann::ordered_json environment = describe_environment();
  environment.update(more);
  for (const std::string& warning : repeat_warnings(repeats, environment)) spdlog::warn("{}", warning);
}

void compare_with_repeated(const RunRecord& repeats, std::uint64_t fingerprint, std::int64_t iterations) {
  bool same = false;
  const std::string verdict = repeat_verdict(repeats, fmt::format("{:016x}", fingerprint), iterations, same);
  spdlog::log(same ? spdlog::level::info : spdlog::level::warn, "{}", verdict);
}

void print_json(const nlohmann::ordered_json& summary, const RunDirectory& directory, ExitCode code) {
  nlohmann::ordered_json line = {{"exit_code", static_cast<int>(code)}, {"run", directory.path().string()}};
  line.update(summary);
  fmt::print(std::cout, "{}\n", json_text(line));
}

}  // namespace foxhunt::run
