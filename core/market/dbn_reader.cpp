#include "core/market/dbn_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.h"
#include "core/market/bar_collector.h"
#include "core/market/dbn_stream.h"

namespace foxhunt::market {
namespace {

/// The year 2116: far enough, and a time plus an interval cannot overflow.
constexpr std::uint64_t latest_time = INT64_MAX / 2;

bool parse_id(const std::string& text, std::uint32_t& id) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc{} && end == text.data() + text.size();
}

std::map<std::uint32_t, std::string> names_of(const DbnMetadata& metadata) {
  std::map<std::uint32_t, std::string> names;
  std::uint32_t id = 0;
  for (const DbnMapping& mapping : metadata.mappings)
    if (metadata.stype_out == dbn::stype::instrument_id && parse_id(mapping.mapped, id))
      names.try_emplace(id, mapping.symbol);
  return names;
}

/// A live stream names its instruments in records: the raw symbol is the second of two strings.
void note_symbol(const DbnRecord& record, std::map<std::uint32_t, std::string>& names) {
  constexpr std::size_t size_v1 = 80, size_v2 = 176;
  const bool v1 = record.size < size_v2;
  if (record.size < size_v1) return;
  const std::size_t length = v1 ? dbn::symbol_size_v1 : dbn::symbol_size;
  const char* first = record.bytes + (v1 ? 16 + length : 18 + length);
  names.try_emplace(record.instrument(), std::string(first, std::find(first, first + length, '\0')));
}

/// Sorts the records of one file into one collector per bar interval, and counts the others.
struct BarRecords {
  std::array<BarCollector, 5> by_interval;      ///< indexed by rtype - ohlcv_1s
  std::map<std::uint8_t, std::int64_t> others;  ///< records that are no bars, by type
  std::map<std::uint32_t, std::string> names;

  void take(const DbnStream& stream, const DbnRecord& record) {
    const std::uint8_t rtype = record.rtype();
    if (dbn::is_bar(rtype)) return take_bar(stream, record);
    if (rtype == dbn::rtype::symbol_mapping) note_symbol(record, names);
    ++others[rtype];
  }

  void take_bar(const DbnStream& stream, const DbnRecord& record) {
    const std::size_t expected = dbn::bar_size + (stream.metadata().ts_out ? 8 : 0);
    if (record.size != expected)
      stream.fail(record, fmt::format("a bar of {} bytes, expected {}; the file is damaged, fetch it again",
                                      record.size, expected));
    BarCollector& bars = by_interval[record.rtype() - dbn::rtype::ohlcv_1s];
    const std::uint64_t ts = record.ts_event();
    if (ts > latest_time) return bars.reject("undefined time");
    bars.add({static_cast<std::int64_t>(ts), record.field<std::int64_t>(16), record.field<std::int64_t>(24),
              record.field<std::int64_t>(32), record.field<std::int64_t>(40), record.field<std::uint64_t>(48),
              record.instrument()});
  }
};

std::string list_records(const std::map<std::string, std::int64_t>& records) {
  std::string text;
  for (const auto& [name, count] : records) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text.empty() ? "no record at all" : text;
}

std::string type_name(std::uint8_t rtype) {
  const std::string name = dbn::record_name(rtype);
  return name.empty() ? fmt::format("type 0x{:02X}", rtype) : name;
}

[[noreturn]] void fail_without_bars(const DbnStream& stream, const BarRecords& records, const Bars& bars) {
  auto there = bars.rejects;
  for (const auto& [rtype, count] : records.others) there[type_name(rtype)] += count;
  throw Error(
      ExitCode::data,
      fmt::format("{}: no bar to train on: schema {}, {}; bars are needed, download schema ohlcv-1m (or -1s, -1h, -1d)",
                  stream.name(), dbn::schema_name(stream.metadata().schema), list_records(there)));
}

}  // namespace

Bars read_dbn_bars(const std::filesystem::path& file) {
  DbnStream stream(file);
  BarRecords records;
  records.names = names_of(stream.metadata());
  stream.for_each([&](const DbnRecord& record) { records.take(stream, record); });

  auto& intervals = records.by_interval;
  const auto most = std::max_element(intervals.begin(), intervals.end(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto rtype = static_cast<std::uint8_t>(dbn::rtype::ohlcv_1s + (most - intervals.begin()));
  Bars bars = std::move(*most).finish(dbn::bar_interval(rtype));
  for (const BarCollector& other : intervals) {
    if (&other == &*most) continue;
    for (const auto& [reason, rows] : other.rejects()) bars.rejects[reason] += rows;
    if (other.size()) bars.rejects["another bar interval"] += static_cast<std::int64_t>(other.size());
  }
  if (bars.size() == 0) fail_without_bars(stream, records, bars);
  for (const auto& [type, count] : records.others)
    bars.rejects[dbn::record_name(type).empty() ? "unknown record type" : "not a bar"] += count;
  bars.symbols = std::move(records.names);
  bars.schema = dbn::record_name(rtype);
  bars.source = file.string();
  return bars;
}

DbnContents read_dbn_contents(const std::filesystem::path& file) {
  DbnStream stream(file);
  DbnContents contents{stream.metadata(), {}};
  stream.for_each([&](const DbnRecord& record) { ++contents.records[type_name(record.rtype())]; });
  return contents;
}

}  // namespace foxhunt::market
