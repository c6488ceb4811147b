#include "core/market/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/csv_book_reader.h"
#include "core/market/csv_reader.h"
#include "core/market/dbn_book_reader.h"
#include "core/market/dbn_reader.h"
#include "core/market/dbn_records.h"
#include "core/market/dbn_stream.h"

namespace foxhunt::market {
namespace {

using Path = std::filesystem::path;

bool ends_with(const Path& file, std::string_view end) { return file.filename().string().ends_with(end); }

std::vector<Path> files_of(const Path& folder) {
  std::vector<Path> files;
  std::error_code error, dangling;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (entry->is_regular_file(dangling)) files.push_back(entry->path());
  if (error)
    throw Error(ExitCode::data, fmt::format("{}: cannot list the folder: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

/// Nothing for a mixed file, whose metadata does not say.
std::optional<MarketContent> content_of_schema(std::uint16_t schema) {
  switch (schema) {
    case dbn::schema::mixed:
      return std::nullopt;
    case dbn::schema::mbo:
    case dbn::schema::mbp1:
    case dbn::schema::mbp10:
    case dbn::schema::tbbo:
      return MarketContent::books;
    case dbn::schema::trades:
      return MarketContent::trades;
    case dbn::schema::definition:
      return MarketContent::definitions;
    case dbn::schema::ohlcv_1s:
    case dbn::schema::ohlcv_1m:
    case dbn::schema::ohlcv_1h:
    case dbn::schema::ohlcv_1d:
    case dbn::schema::ohlcv_eod:
      return MarketContent::bars;
    default:
      return MarketContent::other;
  }
}

bool may_hold(const Path& file, MarketContent content) {
  const auto known = content_of_schema(DbnStream(file).metadata().schema);
  return !known || *known == content;
}

/// Adds the bars of a file that starts after `bars` end.
void concatenate(Bars& bars, Bars next) {
  if (next.schema != bars.schema)
    throw Error(ExitCode::data, fmt::format("{} holds {} bars and {} {}; keep one interval in a folder", bars.source,
                                            bars.schema, next.source, next.schema));
  if (next.ts_open.front() < bars.ts_open.back() + bars.interval)
    throw Error(
        ExitCode::data,
        fmt::format("{} starts at {}, before {} has ended at {}; files of one folder are read in the order of their "
                    "names and must not overlap, remove one",
                    next.source, format_utc(next.ts_open.front()), bars.source,
                    format_utc(bars.ts_open.back() + bars.interval)));
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(bars.ts_open, next.ts_open), add(bars.open, next.open), add(bars.high, next.high), add(bars.low, next.low);
  add(bars.close, next.close), add(bars.volume, next.volume), add(bars.instrument, next.instrument);
  bars.symbols.merge(next.symbols);
  for (const auto& [reason, rows] : next.rejects) bars.rejects[reason] += rows;
  add(bars.notes, next.notes);
  bars.source = next.source;
}

bool has_dbn_name(const Path& file) {
  for (const char* end : {".dbn", ".dbn.zst", ".dbz", ".dbn.frag", ".dbn.frag.zst"})
    if (ends_with(file, end)) return true;
  return false;
}

/// "DBN" or the zstd magic, whatever the file's name.
bool starts_like_dbn(const Path& file) {
  char head[4] = {};
  std::ifstream(file, std::ios::binary).read(head, sizeof head);
  const std::string_view magic(head, sizeof head);
  return magic.starts_with("DBN") || magic == "\x28\xB5\x2F\xFD";
}

std::vector<Path> named(const std::vector<Path>& files, bool (*wanted)(const Path&)) {
  std::vector<Path> chosen;
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen), wanted);
  return chosen;
}

bool has_csv_name(const Path& file) { return ends_with(file, ".csv") || ends_with(file, ".csv.gz"); }

bool is_folder(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

[[noreturn]] void fail_without_market(const Path& folder) {
  throw Error(
      ExitCode::data,
      fmt::format("{}: no market file in this folder; expected .dbn, .dbn.zst, .csv or .csv.gz, or make one with "
                  "`foxhunt-train data synth`",
                  folder.string()));
}

/// A file itself; of a folder the DBN files that may hold this, or the first of all where none may.
std::vector<Path> dbn_files_with(const Path& file_or_folder, MarketContent content) {
  if (!is_folder(file_or_folder)) return {file_or_folder};
  const std::vector<Path> files = named(files_of(file_or_folder), has_dbn_name);
  if (files.empty()) fail_without_market(file_or_folder);
  std::vector<Path> holding;
  for (const Path& file : files)
    if (may_hold(file, content)) holding.push_back(file);
  return holding.empty() ? std::vector<Path>{files.front()} : holding;
}

Bars read_bars_in_order(const std::vector<Path>& files, const ReadOptions& options) {
  Bars bars = read_dbn_bars(files.front(), part_options(options, files, 0));
  for (std::size_t i = 1; i < files.size(); ++i)
    concatenate(bars, read_dbn_bars(files[i], part_options(options, files, i)));
  bars.source = source_name(files);
  return bars;
}

Bars read_folder(const Path& folder, const ReadOptions& options) {
  const std::vector<Path> files = files_of(folder);
  const std::vector<Path> csv_files = named(files, has_csv_name);
  if (std::any_of(files.begin(), files.end(), has_dbn_name))
    return read_bars_in_order(dbn_files_with(folder, MarketContent::bars), options);
  if (csv_files.empty()) fail_without_market(folder);
  if (csv_files.size() > 1)
    throw Error(ExitCode::data,
                fmt::format("{}: {} CSV files in this folder, {} and {} among them; name one of them", folder.string(),
                            csv_files.size(), csv_files[0].filename().string(), csv_files[1].filename().string()));
  return read_csv_bars(csv_files.front(), options);
}

MarketContent content_of_file(const Path& file, const ReadOptions& options) {
  if (!is_dbn(file)) return is_csv_book(file, options) ? MarketContent::books : MarketContent::bars;
  const auto known = content_of_schema(DbnStream(file).metadata().schema);
  return known ? *known : content_of_records(read_dbn_contents(file, options).records);
}

}  // namespace

MarketContent content_of_records(const std::map<std::string, std::int64_t>& records) {
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return records.contains(name); });
  };
  if (any({"ohlcv-1s", "ohlcv-1m", "ohlcv-1h", "ohlcv-1d", "ohlcv-eod"})) return MarketContent::bars;
  if (any({"mbp-10", "mbp-1", "mbo"})) return MarketContent::books;
  if (any({"trade"})) return MarketContent::trades;
  return any({"definition"}) ? MarketContent::definitions : MarketContent::other;
}

bool is_dbn(const Path& file) { return has_dbn_name(file) || starts_like_dbn(file); }

Bars read_bars(const Path& file_or_folder, const ReadOptions& options) {
  if (is_folder(file_or_folder)) return read_folder(file_or_folder, options);
  if (!is_dbn(file_or_folder)) return read_csv_bars(file_or_folder, options);
  return read_dbn_bars(file_or_folder, options);
}

Books read_books(const Path& file_or_folder, const ReadOptions& options) {
  if (!is_folder(file_or_folder) && !is_dbn(file_or_folder)) return read_csv_books(file_or_folder, options);
  return read_dbn_books(dbn_files_with(file_or_folder, MarketContent::books), options);
}

Trades read_trades(const Path& file_or_folder, const ReadOptions& options) {
  return read_dbn_trades(dbn_files_with(file_or_folder, MarketContent::trades), options);
}

MarketContent market_content_of(const Path& file_or_folder, const ReadOptions& options) {
  if (!is_folder(file_or_folder)) return content_of_file(file_or_folder, options);
  const std::vector<Path> files = named(files_of(file_or_folder), has_dbn_name);
  if (files.empty()) return MarketContent::bars;  // of CSV, or the reader says what is missing
  auto content = MarketContent::other;
  for (const Path& file : files) content = std::min(content, content_of_file(file, options));
  return content;
}

}  // namespace foxhunt::market
