#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "core/market/civil_time.h"
#include "core/market/features.h"
#include "core/market/summary.h"
#include "core/market/synth.h"
#include "core/market/writer.h"

namespace foxhunt::app {
namespace {

void add_synth(CLI::App& data, ExitCode& result) {
  struct Arguments {
    std::string kind = "baseline", out;
    market::SynthOptions options;
    bool no_holes = false, no_roll = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = data.add_subcommand("synth", "Write a synthetic market of one-minute ES-like bars");
  command->add_option("--kind", arguments->kind, "baseline, walk, trend, revert or skewed")->capture_default_str();
  command->add_option("--sessions", arguments->options.sessions, "Trading days")->capture_default_str();
  command->add_option("--seed", arguments->options.seed, "The same seed gives the same bytes")->capture_default_str();
  command->add_option("--strength", arguments->options.strength,
                      "Strength of the drift, 0 to 1 (default: the kind's own)");
  command->add_flag("--no-holes", arguments->no_holes, "No missing minutes and no halt");
  command->add_flag("--no-roll", arguments->no_roll, "One contract throughout");
  command->add_option("--out", arguments->out, "File to write: .dbn, .dbn.zst or .csv")->required();
  command->callback([arguments, &result] {
    market::SynthOptions& options = arguments->options;
    options.kind = market::market_kind(arguments->kind);
    options.holes = !arguments->no_holes;
    options.roll = !arguments->no_roll;
    const market::Bars bars = market::synthesize(options);
    market::write_bars(bars, arguments->out);
    std::cout << arguments->out << ": " << bars.size() << " bars\n";
    result = ExitCode::ok;
  });
}

void add_info(CLI::App& data, ExitCode& result) {
  struct Arguments {
    std::vector<std::string> files;
    market::ReadOptions read;
    std::int64_t session_gap_minutes = market::TapeOptions{}.session_gap / market::ns_per_minute;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = data.add_subcommand("info", "Say what market files hold");
  command->add_option("files", arguments->files, "Files or folders")->required();
  command->add_option("--session-gap-minutes", arguments->session_gap_minutes, "A longer pause ends a session")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--csv-time-is-close", arguments->read.csv_time_is_close,
                    "The times of CSV files are those at which bars close");
  command->callback([arguments, &result] {
    const market::TapeOptions tape{arguments->session_gap_minutes * market::ns_per_minute};
    for (const std::string& file : arguments->files) std::cout << market::describe_market(file, arguments->read, tape);
    result = ExitCode::ok;
  });
}

void add_features(CLI::App& data, ExitCode& result) {
  CLI::App* command = data.add_subcommand("features", "List the features of a market row");
  command->callback([&result] {
    for (const market::FeatureInfo& feature : market::feature_catalogue())
      std::cout << fmt::format("{:<24} {}\n", feature.name, feature.help);
    result = ExitCode::ok;
  });
}

}  // namespace

void add_data_command(CLI::App& app, ExitCode& result) {
  CLI::App* data = app.add_subcommand("data", "Make and inspect market files");
  data->require_subcommand(1);
  add_synth(*data, result);
  add_info(*data, result);
  add_features(*data, result);
}

}  // namespace foxhunt::app
