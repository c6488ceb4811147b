#include "core/market/dbn_writer.h"

#include <fmt/format.h>
#include <zstd.h>

#include <map>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/dbn_format.h"
#include "core/storage.h"

namespace foxhunt::market {
namespace {

constexpr int compression_level = 19;  // test data is written once and carried for ever

/// Appends fields, little-endian, one after the other.
class Writer {
 public:
  template <class T>
  void number(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& value, std::size_t size) {
    if (value.size() >= size)
      throw Error(ExitCode::data, fmt::format("'{}' is too long for a DBN field of {} bytes", value, size));
    out_ += value;
    zeros(size - value.size());
  }
  void zeros(std::size_t count) { out_.append(count, '\0'); }
  void overwrite(std::size_t at, std::uint32_t value) { std::memcpy(out_.data() + at, &value, sizeof value); }
  std::size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

struct Days {
  std::int64_t first, last;
};

void write_symbols(Writer& out, const Bars& bars) {
  out.number(static_cast<std::uint32_t>(bars.symbols.size()));
  for (const auto& [id, symbol] : bars.symbols) out.text(symbol, dbn::symbol_size);
  out.number(std::uint32_t{0});  // partly resolved
  out.number(std::uint32_t{0});  // not found
}

void write_mappings(Writer& out, const Bars& bars) {
  std::map<std::uint32_t, Days> days;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const std::int64_t day = utc_day(bars.ts_open[i]);
    days.try_emplace(bars.instrument[i], Days{day, day}).first->second.last = day;
  }
  out.number(static_cast<std::uint32_t>(bars.symbols.size()));
  for (const auto& [id, symbol] : bars.symbols) {
    out.text(symbol, dbn::symbol_size);
    const auto traded = days.find(id);
    out.number(std::uint32_t{traded != days.end()});
    if (traded == days.end()) continue;
    out.number(yyyymmdd(traded->second.first));
    out.number(yyyymmdd(traded->second.last + 1));
    out.text(std::to_string(id), dbn::symbol_size);
  }
}

void write_metadata(Writer& out, const Bars& bars) {
  out.number('D'), out.number('B'), out.number('N'), out.number(std::uint8_t{3});
  out.number(std::uint32_t{0});  // the length, known at the end
  out.text("SYNTHETIC", 16);
  out.number(dbn::bar_schema(bars.interval));
  out.number(static_cast<std::uint64_t>(bars.ts_open.front()));
  out.number(static_cast<std::uint64_t>(bars.ts_open.back() + bars.interval));
  out.number(std::uint64_t{0});  // no limit
  out.number(dbn::stype::raw_symbol), out.number(dbn::stype::instrument_id);
  out.number(std::uint8_t{0});  // no send time
  out.number(static_cast<std::uint16_t>(dbn::symbol_size));
  out.zeros(53);
  out.number(std::uint32_t{0});  // no schema definition
  write_symbols(out, bars);
  write_mappings(out, bars);
  out.zeros((8 - out.size() % 8) % 8);
  out.overwrite(4, static_cast<std::uint32_t>(out.size() - dbn::prefix_size));
}

std::string compress(const std::string& bytes) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, compression_level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size))
    throw Error(ExitCode::data, fmt::format("zstd could not compress: {}", ZSTD_getErrorName(size)));
  packed.resize(size);
  return packed;
}

}  // namespace

std::string encode_dbn(const Bars& bars) {
  if (bars.size() == 0) throw Error(ExitCode::data, "no bar to write");
  const std::uint8_t rtype = dbn::bar_rtype(bars.interval);
  if (!rtype)
    throw Error(ExitCode::data,
                fmt::format("DBN has no schema for bars of {} ns; it has 1 s, 1 m, 1 h and 1 d", bars.interval));
  Writer out;
  write_metadata(out, bars);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    out.number(static_cast<std::uint8_t>(dbn::bar_size / 4));
    out.number(rtype);
    out.number(std::uint16_t{0});  // publisher: none
    out.number(bars.instrument[i]);
    out.number(bars.ts_open[i]);
    out.number(bars.open[i]), out.number(bars.high[i]), out.number(bars.low[i]), out.number(bars.close[i]);
    out.number(bars.volume[i]);
  }
  return out.take();
}

void write_dbn(const Bars& bars, const std::filesystem::path& file) {
  const std::string bytes = encode_dbn(bars);
  write_file_atomically(file, file.extension() == ".zst" ? compress(bytes) : bytes);
}

}  // namespace foxhunt::market
