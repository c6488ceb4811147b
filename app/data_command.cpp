#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands.h"
#include "app/read_progress.h"
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

/// Whether the file could be described; if not, its error has been said.
bool print_info(const std::string& file, market::ReadOptions read, const market::TapeOptions& tape) {
  try {
    read.progress = ReadProgress();
    std::cout << market::describe_market(file, read, tape) << std::flush;
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::data) throw;
    fmt::print(stderr, "foxhunt-train: error: {}\n", error.what());
    return false;
  }
}

void add_info(CLI::App& data, ExitCode& result) {
  struct Arguments {
    std::vector<std::string> files;
    market::ReadOptions read;
    std::string on_error = "error";
    std::int64_t session_gap_minutes = market::TapeOptions{}.session_gap / market::ns_per_minute;
    std::string calendar = market::TapeOptions{}.calendar;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = data.add_subcommand("info", "Say what market files hold");
  command->add_option("files", arguments->files, "Files or folders")->required();
  command->add_option("--session-gap-minutes", arguments->session_gap_minutes, "A longer pause ends a session")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--calendar", arguments->calendar, "Exchange hours; auto: the contract's; none: pauses alone")
      ->capture_default_str();
  command->add_option("--csv-stamp", arguments->read.csv.stamp, "Times of CSV files are those at which bars...")
      ->check(CLI::IsMember({"auto", "open", "close"}))
      ->capture_default_str();
  command->add_option("--csv-time-zone", arguments->read.csv.time_zone, "Zone of times of CSV files that name none")
      ->capture_default_str();
  command->add_option("--instrument", arguments->read.instrument,
                      "Id, symbol, parent (ES.FUT) or root (ES); default: the front contract");
  command->add_option("--on-error", arguments->on_error, "A damaged file: error, or skip what follows the damage")
      ->check(CLI::IsMember({"error", "skip"}))
      ->capture_default_str();
  command->callback([arguments, &result] {
    const market::TapeOptions tape{arguments->session_gap_minutes * market::ns_per_minute, arguments->calendar};
    if (arguments->on_error == "skip") arguments->read.on_damage = market::DamagePolicy::keep_start;
    result = ExitCode::ok;
    for (const std::string& file : arguments->files)
      if (!print_info(file, arguments->read, tape)) result = ExitCode::data;
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
