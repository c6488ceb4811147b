#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/market/reader.h"
#include "core/market/time_zone.h"
#include "core/profile/loader.h"
#include "core/profile/schema.h"
#include "core/run/doctor.h"
#include "core/run/json.h"
#include "core/run/market_input.h"

namespace foxhunt::app {
namespace {

struct DoctorOptions {
  std::string profile, data, device, output;
  bool json = false;
};

profile::Profile profile_of(const DoctorOptions& options) {
  profile::Profile profile = options.profile.empty()
                                 ? profile::default_profile()
                                 : profile::load_profile(options.profile, {}, profile::ProfilePaths::standard());
  if (!options.data.empty()) profile.data.path = options.data;
  if (!options.device.empty()) profile.device.device = options.device;
  if (!options.output.empty()) profile.run.output = options.output;
  return profile;
}

/// The message of the Error that `work` throws, or "".
template <class Work>
std::string error_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

ExitCode examine(const DoctorOptions& options) {
  const profile::Profile profile = profile_of(options);
  run::MachineFacts facts = run::examine_machine(profile);
  facts.time_zone_error = error_of([] { market::TimeZone("America/Chicago"); });
  facts.data_error = error_of([&] {
    facts.data = run::market_source(profile).string();
    market::market_content_of(facts.data);
  });
  const std::vector<run::Finding> findings = run::diagnose(facts);
  const ExitCode code = run::exit_code_of(findings);
  if (options.json) {
    fmt::print(std::cout, "{}\n",
               run::json_text({{"exit_code", static_cast<int>(code)}, {"findings", run::to_json(findings)}}));
  } else {
    std::cout << run::to_text(findings);
  }
  return code;
}

}  // namespace

void add_doctor_command(CLI::App& app, ExitCode& result) {
  const auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Check this machine for training, and say what to do");
  command->add_option("--profile", options->profile, "Profile whose device, data and output are checked");
  command->add_option("--data", options->data, "Market file or folder; stands for data.path");
  command->add_option("--device", options->device, "auto, host or cuda:N; stands for device.device");
  command->add_option("--output", options->output, "Folder for run folders; stands for run.output");
  command->add_flag("--json", options->json, "One line of JSON");
  command->callback([options, &result] { result = examine(*options); });
}

}  // namespace foxhunt::app
