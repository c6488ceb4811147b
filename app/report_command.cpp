#include <iostream>
#include <memory>
#include <string>

#include "app/commands.h"
#include "core/run/report.h"

namespace foxhunt::app {

void add_report_command(CLI::App& app, ExitCode& result) {
  struct Arguments {
    std::string run, output;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("report", "Show a run as one HTML file, from its folder alone");
  command->add_option("run", arguments->run, "Folder of a run, ended or not")->required();
  command->add_option("--output", arguments->output, "File to write; default: RUN/report.html");
  command->callback([arguments, &result] {
    const run::RunDirectory directory = run::RunDirectory::open(arguments->run);
    const std::filesystem::path file =
        arguments->output.empty() ? directory.report_file() : std::filesystem::path(arguments->output);
    run::write_report(directory, file);
    std::cout << file.string() << "\n";
    result = ExitCode::ok;
  });
}

}  // namespace foxhunt::app
