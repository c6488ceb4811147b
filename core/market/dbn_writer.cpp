#include "core/market/dbn_writer.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/market/dbn_encoder.h"
#include "core/market/dbn_format.h"
#include "core/market/zstd_frame.h"
#include "core/storage.h"

namespace foxhunt::market {
namespace {

constexpr int compression_level = 19;  // test data is written once and carried for ever

}  // namespace

std::string encode_dbn(const Bars& bars) {
  if (bars.size() == 0) throw Error(ExitCode::data, "no bar to write");
  const std::uint8_t rtype = dbn::bar_rtype(bars.interval);
  if (!rtype)
    throw Error(ExitCode::data,
                fmt::format("DBN has no schema for bars of {} ns; it has 1 s, 1 m, 1 h and 1 d", bars.interval));
  if (!bars.extra.empty())
    throw Error(ExitCode::usage,
                fmt::format("DBN bars have no place for column {0}; write a .csv file and train on it with "
                            "data.csv_features = [\"{0}\"]",
                            bars.extra[0].name));
  DbnMetadata metadata =
      synthetic_metadata(dbn::bar_schema(bars.interval), bars.symbols, bars.instrument, bars.ts_open);
  metadata.start = static_cast<std::uint64_t>(bars.ts_open.front());
  metadata.end = static_cast<std::uint64_t>(bars.ts_open.back() + bars.interval);
  DbnEncoder out;
  out.metadata(metadata);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    out.record_header(dbn::bar_size, rtype, bars.instrument[i], bars.ts_open[i]);
    out.number(bars.open[i]), out.number(bars.high[i]), out.number(bars.low[i]), out.number(bars.close[i]);
    out.number(bars.volume[i]);
  }
  return out.take();
}

void write_dbn(const Bars& bars, const std::filesystem::path& file) {
  const std::string bytes = encode_dbn(bars);
  if (file.extension() != ".zst") return write_file_atomically(file, bytes);
  ZstdFrame frame(compression_level, bytes.size());
  frame.add(bytes);
  write_file_atomically(file, std::move(frame).finish());
}

}  // namespace foxhunt::market
