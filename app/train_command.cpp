#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/dqn/training_run.h"
#include "core/profile/loader.h"
#include "core/profile/printer.h"

namespace foxhunt::app {
namespace {

/// What the command line said; filled before the callback runs.
struct TrainOptions {
  std::string profile, resume, data, device, output;
  std::vector<std::string> overrides;
  bool quiet = false;
};

/// The options that stand for a profile key, as overrides.
std::vector<std::string> all_overrides(const TrainOptions& options) {
  std::vector<std::string> result = options.overrides;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) result.push_back(std::string(key) + "=" + profile::toml_text(text));
  };
  add("data.path", options.data);
  add("device.device", options.device);
  add("run.output", options.output);
  return result;
}

}  // namespace

void add_train_command(CLI::App& app, ExitCode& result, std::vector<std::string> command_line) {
  const auto options = std::make_shared<TrainOptions>();
  app.add_option("--profile", options->profile, "Profile to train: a name (see `profiles list`) or a .toml file");
  CLI::Option* resume = app.add_option(
      "--resume", options->resume,
      "Go on with a stopped run: its folder, or one checkpoint file in it. A changed setting needs a --set");
  app.add_option("--set", options->overrides, "Override one key: dotted.key=TOML-VALUE (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--data", options->data, "Market file or folder; stands for data.path");
  app.add_option("--device", options->device, "auto, host or cuda:N; stands for device.device");
  app.add_option("--output", options->output, "Folder for run folders; stands for run.output")->excludes(resume);
  app.add_flag("--quiet", options->quiet, "No progress and no tables; warnings and errors only");
  app.callback([&app, &result, options, command_line = std::move(command_line)] {
    if (!app.get_subcommands().empty()) return;
    if (!options->resume.empty()) {
      const dqn::ResumeRequest request{options->resume, options->profile, all_overrides(*options)};
      result = dqn::resume_training(request, {command_line, options->quiet});
      return;
    }
    if (options->profile.empty())
      throw Error(ExitCode::usage, "nothing to do: give --profile NAME, --resume RUN, or a subcommand (see --help)");
    const profile::Profile profile =
        profile::load_profile(options->profile, all_overrides(*options), profile::ProfilePaths::standard());
    result = dqn::run_training(profile, {command_line, options->quiet});
  });
}

}  // namespace foxhunt::app
