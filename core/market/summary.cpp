#include "core/market/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/market/civil_time.h"
#include "core/market/dbn_reader.h"
#include "core/market/decimal.h"

namespace foxhunt::market {
namespace {

void add_line(std::string& text, const char* name, const std::string& value) {
  text += fmt::format("  {:<10} {}\n", name, value);
}

/// "3 of this, 2 of that".
template <class Map>
std::string list(const Map& map) {
  std::string text;
  for (const auto& [key, value] : map) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value, key);
  return text.empty() ? "none" : text;
}

std::string symbols_of(const Bars& bars) {
  std::map<std::uint32_t, std::int64_t> rows;
  for (const std::uint32_t instrument : bars.instrument) ++rows[instrument];
  std::string text;
  for (const auto& [instrument, count] : rows) {
    const auto name = bars.symbols.find(instrument);
    text += fmt::format("{}{} (instrument {}, {} rows)", text.empty() ? "" : ", ",
                        name == bars.symbols.end() ? "unnamed" : name->second, instrument, count);
  }
  return text;
}

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
  const auto first = bars.symbols.find(bars.instrument.front());
  const Contract contract = contract_for(first == bars.symbols.end() ? "" : first->second);
  const Tape tape = make_tape(std::move(bars), contract, options);
  const auto [low, high] = std::minmax_element(tape.mid.begin(), tape.mid.end());
  add_line(text, "schema", tape.bars.schema);
  add_line(text, "symbols", symbols_of(tape.bars));
  add_line(text, "span", format_utc(tape.bars.ts_open.front()) + " to " + format_utc(tape.ts.back()) + " UTC");
  add_line(text, "rows", std::to_string(tape.rows()));
  add_line(text, "left out", list(tape.bars.rejects));
  add_line(text, "closes", format_price(*low) + " to " + format_price(*high));
  add_line(text, "sessions", std::to_string(tape.session.back() + 1));
  add_line(text, "gaps", std::to_string(rows_with(tape, gap_before)) + " within sessions");
  add_line(text, "rolls", rolls_of(tape));
}

bool any_bar(const DbnContents& contents) {
  return std::any_of(contents.records.begin(), contents.records.end(),
                     [](const auto& record) { return record.first.starts_with("ohlcv-"); });
}

std::string time_or_none(std::uint64_t ns) {
  return ns > INT64_MAX ? "none" : format_utc(static_cast<std::int64_t>(ns));
}

void describe_dbn(std::string& text, const DbnContents& contents) {
  const DbnMetadata& metadata = contents.metadata;
  add_line(text, "format", fmt::format("DBN version {}, dataset {}", metadata.version, metadata.dataset));
  add_line(text, "records", list(contents.records));
  if (any_bar(contents)) return;
  add_line(text, "schema", dbn::schema_name(metadata.schema) + " (no bars)");
  add_line(text, "symbols", fmt::format("{}", fmt::join(metadata.symbols, ", ")));
  add_line(text, "span", time_or_none(metadata.start) + " to " + time_or_none(metadata.end) + " UTC, as asked for");
}

}  // namespace

std::string describe_market(const std::filesystem::path& file_or_folder, const ReadOptions& read,
                            const TapeOptions& options) {
  std::string text = file_or_folder.string() + "\n";
  std::error_code ignored;
  if (!std::filesystem::is_directory(file_or_folder, ignored) && is_dbn(file_or_folder)) {
    const DbnContents contents = read_dbn_contents(file_or_folder);
    describe_dbn(text, contents);
    if (!any_bar(contents)) return text;
  }
  describe_bars(text, read_bars(file_or_folder, read), options);
  return text;
}

}  // namespace foxhunt::market
