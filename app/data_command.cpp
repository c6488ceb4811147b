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

std::string describe_kinds() {
  std::string text = "Kinds of bars (drift, what --strength scales):\n";
  for (const market::MarketKindInfo& kind : market::market_kinds())
    text += fmt::format("  {:<10} {}\n", kind.name, kind.bars);
  text +=
      "Kinds of books (--strength is the edge: the next row's mid, if it differs, lies on the side of the larger best "
      "size with probability (1 + edge) / 2):\n";
  for (const market::MarketKindInfo& kind : market::market_kinds())
    text += fmt::format("  {:<10} {}\n", kind.name, kind.books);
  return text;
}

struct SynthArguments {
  std::string kind = "baseline", out;
  market::SynthOptions options;
  bool books = false, no_holes = false, no_roll = false;
};

void write_synthetic(SynthArguments arguments) {
  market::SynthOptions& options = arguments.options;
  options.kind = market::market_kind(arguments.kind);
  options.holes = !arguments.no_holes;
  options.roll = !arguments.no_roll;
  market::check_market_file_name(arguments.out);
  if (arguments.books) {
    const market::Books books = market::synthesize_books(options);
    market::write_books(books, arguments.out);
    std::cout << arguments.out << ": " << books.rows() << " books\n";
  } else {
    const market::Bars bars = market::synthesize(options);
    market::write_bars(bars, arguments.out);
    std::cout << arguments.out << ": " << bars.size() << " bars\n";
  }
}

void add_synth(CLI::App& data, ExitCode& result) {
  auto arguments = std::make_shared<SynthArguments>();
  market::SynthOptions& options = arguments->options;
  CLI::App* command =
      data.add_subcommand("synth", "Write a synthetic market of an ES-like contract: one-minute bars or books");
  command->footer(describe_kinds());
  command->add_option("--kind", arguments->kind, "What there is to learn; see below")->capture_default_str();
  command->add_option("--sessions", options.sessions, "Trading days")->capture_default_str();
  command->add_option("--seed", options.seed, "The same seed gives the same bytes")->capture_default_str();
  command->add_option("--strength", options.strength, "Of the drift or edge, 0 to 1 (default: the kind's own)");
  command->add_flag("--no-holes", arguments->no_holes, "Nothing missing: no minutes, no levels, and no halt");
  command->add_flag("--no-roll", arguments->no_roll, "One contract throughout");
  CLI::Option* books = command->add_flag("--books", arguments->books, "Ten-level snapshots (mbp-10) instead of bars");
  command->add_option("--rows", options.rows, "Books: rows of a session")->capture_default_str()->needs(books);
  command
      ->add_option("--signal", options.signal,
                   "Bars, .csv only: a column 'signal' that has this correlation, 0 to 1, with the next change of the "
                   "close")
      ->excludes(books);
  command->add_option("--out", arguments->out, "File to write: .dbn, .dbn.zst or .csv")->required();
  command->callback([arguments, &result] {
    write_synthetic(*arguments);
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
