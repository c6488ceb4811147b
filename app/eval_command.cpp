#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/alpha/frozen_model.h"
#include "core/dqn/evaluation.h"
#include "core/profile/printer.h"
#include "core/run/json.h"
#include "core/run/log.h"
#include "core/storage.h"

namespace foxhunt::app {
namespace {

/// What the command line said; filled before the callback runs.
struct EvalOptions {
  std::string model, checkpoint, device, sessions, trades;
  std::vector<std::string> overrides;
  dqn::EvaluationOptions evaluation;
  bool json = false;
};

void evaluate(const EvalOptions& options) {
  run::start_console_log("warn");
  std::vector<std::string> overrides = options.overrides;
  if (!options.device.empty()) overrides.push_back("device.device=" + profile::toml_text(options.device));
  const dqn::Model model = dqn::load_model(dqn::find_checkpoint(options.model, options.checkpoint), overrides);
  dqn::EvaluationOptions evaluated = options.evaluation;
  evaluated.open_book_model = alpha::open_book_model;
  const dqn::Evaluation evaluation = dqn::evaluate(model, evaluated);
  if (!options.sessions.empty()) write_file_atomically(options.sessions, dqn::sessions_csv(evaluation));
  if (!options.trades.empty()) write_file_atomically(options.trades, dqn::trades_csv(evaluation));
  fmt::print(std::cout, "{}",
             options.json ? run::json_text(dqn::evaluation_json(evaluation, model)) + "\n"
                          : dqn::evaluation_text(evaluation, model));
}

}  // namespace

void add_eval_command(CLI::App& app, ExitCode& result) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Run a trained model and the baselines through market data");
  command->add_option("MODEL", options->model, "A run (its folder, or its name in runs/), or a checkpoint file")
      ->required();
  command->add_option("--checkpoint", options->checkpoint,
                      "Of a run: best, last, epoch-000010 ... (default: best, or last where there is none)");
  command->add_option("--data", options->evaluation.data,
                      "Market file or folder (default: what the model was trained on)");
  command
      ->add_option("--split", options->evaluation.split,
                   "train, validation, test or all (default: test; with --data all)")
      ->check(CLI::IsMember({"train", "validation", "test", "all"}));
  command->add_option("--set", options->overrides, "Override one key of the model's profile: dotted.key=TOML-VALUE")
      ->allow_extra_args(false);
  command->add_option("--device", options->device, "auto, host or cuda:N");
  command->add_flag("--json", options->json, "One line of JSON");
  command->add_option("--sessions", options->sessions, "Write one CSV line a session to this file");
  command->add_option("--trades", options->trades, "Write one CSV line a round trip to this file");
  command->callback([options, &result] {
    evaluate(*options);
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app
