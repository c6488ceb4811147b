#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/commands.h"
#include "app/usage_error.h"
#include "core/run/json.h"

namespace {

using foxhunt::ExitCode;

constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0  done                          5  a non-finite value stopped the run\n"
    "  1  a smoketest check failed      6  time budget exceeded\n"
    "  2  command line or profile       7  storage: disk full, read-only, unreadable checkpoint\n"
    "  3  market data                   8  a model gate failed and was asked to matter\n"
    "  4  device or memory              130, 143  interrupted or terminated; state saved";

/// The command line may not have parsed, so --json is looked for in its words.
int complain(std::string message, ExitCode code, const std::vector<std::string>& command_line) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "foxhunt-train: error: {}\n", message);
  if (std::find(command_line.begin(), command_line.end(), "--json") != command_line.end())
    fmt::print("{}\n", foxhunt::run::json_text({{"exit_code", static_cast<int>(code)}, {"error", message}}));
  return static_cast<int>(code);
}

void describe(CLI::App& app, ExitCode& result, std::vector<std::string> command_line) {
  app.name("foxhunt-train");
  app.set_version_flag("--version", "foxhunt-train " FOXHUNT_VERSION);
  app.footer(exit_codes);
  foxhunt::app::add_train_command(app, result, std::move(command_line));
  foxhunt::app::add_eval_command(app, result);
  foxhunt::app::add_export_command(app, result);
  foxhunt::app::add_profiles_command(app, result);
  foxhunt::app::add_data_command(app, result);
  foxhunt::app::add_report_command(app, result);
  foxhunt::app::add_bench_command(app, result);
  foxhunt::app::add_runs_command(app, result);
  foxhunt::app::add_doctor_command(app, result);
  foxhunt::app::add_completion_command(app, result);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains trading agents for futures, the whole loop on the GPU.");
  ExitCode result = ExitCode::ok;
  const std::vector<std::string> words(argv, argv + argc);
  try {
    describe(app, result, words);
    app.parse(argc, argv);
    if (!std::cout.flush()) throw foxhunt::Error(ExitCode::storage, "standard output cannot be written");
    return static_cast<int>(result);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    return complain(foxhunt::app::usage_message(app, error), ExitCode::usage, words);
  } catch (const foxhunt::Error& error) {
    return complain(error.what(), error.code(), words);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", ExitCode::device, words);
  } catch (const std::exception& error) {
    return complain(error.what(), ExitCode::check_failed, words);
  }
}
