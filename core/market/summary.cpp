#include "core/market/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/market/civil_time.h"
#include "core/market/dbn_reader.h"
#include "core/market/decimal.h"
#include "core/market/definitions.h"
#include "core/market/summary_lines.h"

namespace foxhunt::market {
namespace {

std::int64_t rows_with(const Tape& tape, RowFlag flag) {
  return std::count_if(tape.flags.begin(), tape.flags.end(), [=](std::uint8_t flags) { return flags & flag; });
}

std::string rolls_of(const Tape& tape) {
  std::string text = std::to_string(rows_with(tape, RowFlag::roll));
  for (std::size_t i = 0; i + 1 < tape.rows(); ++i)
    if (tape.flags[i] & RowFlag::roll)
      text +=
          fmt::format("; {}: instrument {} at {} to {} at {}", format_utc(tape.bars.ts_open[i + 1]), tape.instrument[i],
                      format_price(tape.mid[i]), tape.instrument[i + 1], format_price(tape.bars.open[i + 1]));
  return text;
}

void describe_bars(std::string& text, Bars bars, const TapeOptions& options) {
  const Contract contract = contract_of_first(bars);
  const Tape tape = make_tape(std::move(bars), contract, options);
  const auto [low, high] = std::minmax_element(tape.mid.begin(), tape.mid.end());
  add_line(text, "schema", tape.bars.schema);
  add_line(text, "symbols", list_symbols(tape.bars));
  add_line(text, "span", format_utc(tape.bars.ts_open.front()) + " to " + format_utc(tape.ts.back()) + " UTC");
  add_line(text, "rows", std::to_string(tape.rows()));
  add_line(text, "left out", list_or_none(tape.bars.rejects));
  for (const std::string& note : tape.bars.notes) add_line(text, "note", note);
  add_line(text, "closes", format_price(*low) + " to " + format_price(*high));
  add_line(text, "calendar", tape.calendar);
  add_line(text, "sessions", std::to_string(tape.session.back() + 1));
  add_line(text, "gaps", std::to_string(rows_with(tape, gap_before)) + " within sessions");
  add_line(text, "rolls", rolls_of(tape));
}

std::string time_or_none(std::uint64_t ns) {
  return ns > INT64_MAX ? "none" : format_utc(static_cast<std::int64_t>(ns));
}

void describe_container(std::string& text, const DbnContents& contents) {
  const DbnMetadata& metadata = contents.metadata;
  add_line(text, "format", fmt::format("DBN version {}, dataset {}", metadata.version, metadata.dataset));
  add_line(text, "records", list_or_none(contents.records));
}

/// A file without rows that can be read.
void describe_metadata(std::string& text, const DbnMetadata& metadata) {
  add_line(text, "schema", dbn::schema_name(metadata.schema) + " (nothing to train on)");
  add_line(text, "symbols", fmt::format("{}", fmt::join(metadata.symbols, ", ")));
  add_line(text, "span", time_or_none(metadata.start) + " to " + time_or_none(metadata.end) + " UTC, as asked for");
}

/// Counts of a file's records, and whether there are any of what its metadata promises.
bool describe_records(std::string& text, const std::filesystem::path& file, const ReadOptions& read) {
  const DbnContents contents = read_dbn_contents(file, read);
  describe_container(text, contents);
  if (content_of_records(contents.records) != MarketContent::other) return true;
  describe_metadata(text, contents.metadata);
  return false;
}

}  // namespace

std::string describe_market(const std::filesystem::path& file_or_folder, const ReadOptions& read,
                            const TapeOptions& options) {
  std::string text = file_or_folder.string() + "\n";
  std::error_code ignored;
  const bool file = !std::filesystem::is_directory(file_or_folder, ignored);
  if (file && is_dbn(file_or_folder) && !describe_records(text, file_or_folder, read)) return text;
  ReadOptions looking = read;
  looking.may_be_empty = true;
  switch (market_content_of(file_or_folder, read)) {
    case MarketContent::books:
      describe_books(text, read_books(file_or_folder, looking), options);
      break;
    case MarketContent::trades:
      describe_trades(text, read_trades(file_or_folder, looking), options);
      break;
    case MarketContent::definitions:
      describe_definitions(text, read_definitions(file_or_folder));
      break;
    default:
      describe_bars(text, read_bars(file_or_folder, read), options);
  }
  return text;
}

}  // namespace foxhunt::market
