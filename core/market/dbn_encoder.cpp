#include "core/market/dbn_encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/market/civil_time.h"

namespace foxhunt::market {

void DbnEncoder::text(const std::string& value, std::size_t size) {
  if (value.size() >= size)
    throw Error(ExitCode::data, fmt::format("'{}' is too long for a DBN field of {} bytes", value, size));
  out_ += value;
  zeros(size - value.size());
}

void DbnEncoder::record_header(std::size_t size, std::uint8_t rtype, std::uint32_t instrument, std::int64_t ts_event) {
  number(static_cast<std::uint8_t>(size / 4));
  number(rtype);
  number(std::uint16_t{0});  // publisher: none
  number(instrument);
  number(ts_event);
}

void DbnEncoder::metadata(const DbnMetadata& metadata) {
  const std::size_t start = size();
  number('D'), number('B'), number('N'), number(std::uint8_t{3});
  number(std::uint32_t{0});  // the length, known at the end
  text(metadata.dataset, 16);
  number(metadata.schema);
  number(metadata.start), number(metadata.end), number(metadata.limit);
  number(metadata.stype_in), number(metadata.stype_out);
  number(std::uint8_t{metadata.ts_out});
  number(static_cast<std::uint16_t>(dbn::symbol_size));
  zeros(53);
  number(std::uint32_t{0});  // no schema definition
  number(static_cast<std::uint32_t>(metadata.symbols.size()));
  for (const std::string& symbol : metadata.symbols) text(symbol, dbn::symbol_size);
  number(std::uint32_t{0});  // partly resolved
  number(std::uint32_t{0});  // not found
  number(static_cast<std::uint32_t>(metadata.symbols.size()));
  for (const std::string& symbol : metadata.symbols) {
    const auto of_symbol = [&](const DbnMapping& mapping) { return mapping.symbol == symbol; };
    text(symbol, dbn::symbol_size);
    number(static_cast<std::uint32_t>(std::count_if(metadata.mappings.begin(), metadata.mappings.end(), of_symbol)));
    for (const DbnMapping& mapping : metadata.mappings) {
      if (!of_symbol(mapping)) continue;
      number(mapping.start), number(mapping.end);
      text(mapping.mapped, dbn::symbol_size);
    }
  }
  zeros((8 - (size() - start) % 8) % 8);
  overwrite(start + 4, static_cast<std::uint32_t>(size() - start - dbn::prefix_size));
}

DbnMetadata synthetic_metadata(std::uint16_t schema, const std::map<std::uint32_t, std::string>& symbols,
                               std::span<const std::uint32_t> instruments, std::span<const std::int64_t> ts) {
  struct Days {
    std::int64_t first, last;
  };
  std::map<std::uint32_t, Days> days;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const std::int64_t day = utc_day(ts[i]);
    days.try_emplace(instruments[i], Days{day, day}).first->second.last = day;
  }
  DbnMetadata metadata;
  metadata.dataset = "SYNTHETIC";
  metadata.schema = schema;
  for (const auto& [id, symbol] : symbols) {
    metadata.symbols.push_back(symbol);
    const auto traded = days.find(id);
    if (traded != days.end())
      metadata.mappings.push_back(
          {symbol, yyyymmdd(traded->second.first), yyyymmdd(traded->second.last + 1), std::to_string(id)});
  }
  return metadata;
}

}  // namespace foxhunt::market
