#include <memory>
#include <string>
#include <vector>

#include "app/card_profile.h"
#include "app/commands.h"
#include "core/alpha/frozen_model.h"
#include "core/alpha/training_run.h"
#include "core/dqn/dry_run.h"
#include "core/profile/loader.h"
#include "core/profile/printer.h"
#include "core/run/resume.h"

namespace foxhunt::app {
namespace {

/// What the command line said; filled before the callback runs.
struct TrainOptions {
  std::string profile, repeat, resume, data, device, output;
  std::vector<std::string> overrides;
  bool quiet = false, json = false, dry_run = false, require_pass = false;
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

void require_gate(const profile::Profile& profile, const run::TrainingRunOptions& options) {
  if (options.require_pass && profile.model != "alpha")
    throw Error(ExitCode::usage, "--require-pass: only a run of model alpha ends with a gate; profile " + profile.name +
                                     " trains a DQN");
}

ExitCode resume(const TrainOptions& options, const run::TrainingRunOptions& run_options) {
  run::ResumeRequest request{options.resume, {}, all_overrides(options)};
  if (!options.profile.empty())
    request.profile =
        profile::load_profile(options.profile, request.overrides, profile::ProfilePaths::standard(), card_profile);
  run::ResumePoint point = run::find_resume_point(request);
  require_gate(point.profile, run_options);
  return point.profile.model == "alpha" ? alpha::resume_training(std::move(point), run_options)
                                        : dqn::resume_training(std::move(point), run_options);
}

ExitCode train(const TrainOptions& options, const std::vector<std::string>& command_line) {
  run::TrainingRunOptions run_options{.command_line = command_line,
                                      .quiet = options.quiet,
                                      .json = options.json,
                                      .require_pass = options.require_pass,
                                      .open_book_model = alpha::open_book_model};
  if (!options.resume.empty()) return resume(options, run_options);
  std::string source = options.profile;
  if (!options.repeat.empty()) {
    run_options.repeats = run::find_run(options.repeat, options.output.empty() ? "runs" : options.output);
    run::require_one_profile(*run_options.repeats);
    source = run_options.repeats->profile_file().string();
  }
  const profile::Profile profile =
      profile::load_profile(source, all_overrides(options), profile::ProfilePaths::standard(), card_profile);
  const bool alpha = profile.model == "alpha";
  require_gate(profile, run_options);
  if (!options.dry_run)
    return alpha ? alpha::run_training(profile, run_options) : dqn::run_training(profile, run_options);
  alpha ? alpha::dry_run(profile, run_options) : dqn::dry_run(profile, run_options);
  return ExitCode::ok;
}

}  // namespace

void add_train_command(CLI::App& app, ExitCode& result, std::vector<std::string> command_line) {
  const auto options = std::make_shared<TrainOptions>();
  CLI::Option* profile =
      app.add_option("--profile", options->profile, "Profile to train: a name (see `profiles list`) or a .toml file");
  CLI::Option* set = app.add_option("--set", options->overrides, "Override one key: dotted.key=TOML-VALUE (repeatable)")
                         ->allow_extra_args(false);
  CLI::Option* data = app.add_option("--data", options->data, "Market file or folder; stands for data.path");
  app.add_option("--device", options->device, "auto, host or cuda:N; stands for device.device");
  CLI::Option* output = app.add_option("--output", options->output, "Folder for run folders; stands for run.output");
  CLI::Option* resume = app.add_option("--resume", options->resume,
                                       "Go on with a stopped run: its folder, its name in runs/, or one checkpoint "
                                       "file in it. A changed setting needs a --set")
                            ->excludes(output);
  app.add_option("--repeat", options->repeat,
                 "Run of a folder (or of its name in the output folder) to train again, exactly; refused when its data "
                 "has changed")
      ->excludes(profile)
      ->excludes(set)
      ->excludes(data)
      ->excludes(resume);
  app.add_flag("--dry-run", options->dry_run,
               "Load everything, show data, memory plan and schedule, run one iteration, write nothing")
      ->excludes(resume);
  app.add_flag("--require-pass", options->require_pass, "Exit 8 when the gate of an alpha run says FAIL");
  app.add_flag("--quiet", options->quiet, "No progress and no tables; warnings and errors only");
  app.add_flag("--json", options->json, "The last line of standard output is one JSON object, of an error too");
  app.callback([&app, &result, options, command_line = std::move(command_line)] {
    if (!app.get_subcommands().empty()) return;
    if (options->profile.empty() && options->repeat.empty() && options->resume.empty())
      throw Error(ExitCode::usage, "nothing to do: give --profile NAME, --resume RUN, or a subcommand (see --help)");
    result = train(*options, command_line);
  });
}

}  // namespace foxhunt::app
