#include "core/market/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/csv_reader.h"
#include "core/market/dbn_reader.h"
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

bool may_hold_bars(const Path& file) {
  const std::uint16_t schema = DbnStream(file).metadata().schema;
  return schema == dbn::schema::mixed || schema == dbn::schema::ohlcv_eod ||
         (schema >= dbn::schema::ohlcv_1s && schema <= dbn::schema::ohlcv_1d);
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
  bars.source = next.source;
}

bool has_dbn_name(const Path& file) {
  return ends_with(file, ".dbn") || ends_with(file, ".dbn.zst") || ends_with(file, ".dbz");
}

/// "DBN" or the zstd magic, whatever the file's name.
bool starts_like_dbn(const Path& file) {
  char head[4] = {};
  std::ifstream(file, std::ios::binary).read(head, sizeof head);
  const std::string_view magic(head, sizeof head);
  return magic.starts_with("DBN") || magic == "\x28\xB5\x2F\xFD";
}

Bars read_dbn_files(const std::vector<Path>& files, const Path& folder) {
  std::vector<Path> with_bars;
  std::copy_if(files.begin(), files.end(), std::back_inserter(with_bars), may_hold_bars);
  if (with_bars.empty()) return read_dbn_bars(files.front());  // throws, saying what it holds
  Bars bars = read_dbn_bars(with_bars.front());
  for (std::size_t i = 1; i < with_bars.size(); ++i) concatenate(bars, read_dbn_bars(with_bars[i]));
  if (with_bars.size() > 1) bars.source = folder.string();
  return bars;
}

Bars read_folder(const Path& folder, const ReadOptions& options) {
  std::vector<Path> dbn_files, csv_files;
  for (const Path& file : files_of(folder)) {
    if (has_dbn_name(file)) dbn_files.push_back(file);
    if (ends_with(file, ".csv")) csv_files.push_back(file);
  }
  if (!dbn_files.empty()) return read_dbn_files(dbn_files, folder);
  if (csv_files.empty())
    throw Error(ExitCode::data,
                fmt::format("{}: no market file in this folder; expected .dbn, .dbn.zst or .csv, or make one "
                            "with `foxhunt-train data synth`",
                            folder.string()));
  if (csv_files.size() > 1)
    throw Error(ExitCode::data,
                fmt::format("{}: {} CSV files in this folder, {} and {} among them; name one of them", folder.string(),
                            csv_files.size(), csv_files[0].filename().string(), csv_files[1].filename().string()));
  return read_csv_bars(csv_files.front(), options.csv_time_is_close);
}

}  // namespace

bool is_dbn(const Path& file) { return has_dbn_name(file) || starts_like_dbn(file); }

Bars read_bars(const Path& file_or_folder, const ReadOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(file_or_folder, error)) return read_folder(file_or_folder, options);
  if (!is_dbn(file_or_folder)) return read_csv_bars(file_or_folder, options.csv_time_is_close);
  return read_dbn_bars(file_or_folder);
}

}  // namespace foxhunt::market
