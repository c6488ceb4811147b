#include "core/market/dbn_reader.h"

#include <algorithm>
#include <array>

#include "core/market/bar_collector.h"
#include "core/market/dbn_records.h"

namespace foxhunt::market {
namespace {

/// One collector per bar interval, indexed by rtype - ohlcv_1s.
using BarsByInterval = std::array<BarCollector, 5>;

void take_bar(const DbnRecord& record, BarCollector& bars) {
  const std::uint64_t ts = record.ts_event();
  if (ts > dbn::latest_time) return bars.reject("undefined time");
  bars.add({static_cast<std::int64_t>(ts), record.field<std::int64_t>(16), record.field<std::int64_t>(24),
            record.field<std::int64_t>(32), record.field<std::int64_t>(40), record.field<std::uint64_t>(48),
            record.instrument()});
}

}  // namespace

Bars read_dbn_bars(const std::filesystem::path& file, const ReadOptions& options) {
  SymbolNames names;
  DbnRecords records(file, options, names);
  BarsByInterval intervals;
  records.for_each([&](const DbnRecord& record) {
    if (!dbn::is_bar(record.rtype())) return false;
    records.check_size(record, dbn::bar_size);
    take_bar(record, intervals[record.rtype() - dbn::rtype::ohlcv_1s]);
    return true;
  });

  const auto most = std::max_element(intervals.begin(), intervals.end(),
                                     [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto rtype = static_cast<std::uint8_t>(dbn::rtype::ohlcv_1s + (most - intervals.begin()));
  Bars bars = std::move(*most).finish(dbn::bar_interval(rtype), {options.instrument, names, file.string()});
  for (const BarCollector& other : intervals) {
    if (&other == &*most) continue;
    for (const auto& [reason, rows] : other.rejects()) bars.rejects[reason] += rows;
    if (other.size()) bars.rejects["another bar interval"] += static_cast<std::int64_t>(other.size());
  }
  if (bars.size() == 0)
    records.fail_without("bar to train on", bars.rejects,
                         "bars are needed, download schema ohlcv-1m (or -1s, -1h, -1d)");
  records.report_to(bars, "not a bar");
  bars.symbols = std::move(names);
  bars.schema = dbn::record_name(rtype);
  bars.source = file.string();
  return bars;
}

DbnContents read_dbn_contents(const std::filesystem::path& file, const ReadOptions& options) {
  SymbolNames names;
  DbnRecords records(file, options, names);
  DbnContents contents{records.metadata(), {}};
  std::array<std::int64_t, 256> by_type{};
  records.for_each([&](const DbnRecord& record) { return ++by_type[record.rtype()] > 0; });
  for (std::size_t type = 0; type < by_type.size(); ++type)
    if (by_type[type]) contents.records[dbn::record_label(static_cast<std::uint8_t>(type))] = by_type[type];
  return contents;
}

}  // namespace foxhunt::market
