#include "core/market/csv_writer.h"

#include <fmt/format.h>

#include "core/market/civil_time.h"
#include "core/market/decimal.h"
#include "core/storage.h"

namespace foxhunt::market {

std::string encode_csv(const Bars& bars) {
  std::string text = "ts_event,instrument_id,open,high,low,close,volume,symbol";
  for (const ExtraColumn& column : bars.extra) text += "," + column.name;
  text += '\n';
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto name = bars.symbols.find(bars.instrument[i]);
    text += fmt::format("{}Z,{},{},{},{},{},{},{}", format_utc(bars.ts_open[i]), bars.instrument[i],
                        format_price(bars.open[i]), format_price(bars.high[i]), format_price(bars.low[i]),
                        format_price(bars.close[i]), bars.volume[i], name == bars.symbols.end() ? "" : name->second);
    for (const ExtraColumn& column : bars.extra) text += fmt::format(",{}", column.values[i]);
    text += '\n';
  }
  return text;
}

void write_csv(const Bars& bars, const std::filesystem::path& file) { write_file_atomically(file, encode_csv(bars)); }

}  // namespace foxhunt::market
