#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>
#include <string>

#include "app/commands.h"
#include "core/dqn/policy_export.h"
#include "core/storage.h"

namespace foxhunt::app {

void add_export_command(CLI::App& app, ExitCode& result) {
  struct Arguments {
    std::string model, checkpoint, onnx;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("export", "Write a trained policy for use elsewhere; needs no device");
  command->add_option("MODEL", arguments->model, "A run (its folder, or its name in runs/), or a checkpoint file")
      ->required();
  command->add_option("--checkpoint", arguments->checkpoint,
                      "Of a run: best, last, epoch-000010 ... (default: best, or last where there is none)");
  command->add_option("--onnx", arguments->onnx, "ONNX file to write")->required();
  command->callback([arguments, &result] {
    const dqn::Model model = dqn::load_model(dqn::find_checkpoint(arguments->model, arguments->checkpoint));
    write_file_atomically(arguments->onnx, dqn::policy_onnx(model));
    fmt::print(std::cout, "{}: features [batch, {}] and portfolio [batch, {}] to q [batch, {}] and action [batch]\n",
               arguments->onnx, model.card.features.names.size(), portfolio_width, model.card.actions());
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app
