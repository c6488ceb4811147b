#include "core/market/definitions.h"

#include <fmt/format.h>

#include "core/market/dbn_records.h"

namespace foxhunt::market {
namespace {

/// Where a version of the record keeps what is read of it.
struct Layout {
  std::size_t size;        ///< of the record
  std::size_t multiplier;  ///< unit of measure quantity
  std::size_t currency, symbol, symbol_size, asset, asset_size;
};
constexpr std::size_t tick_at = 24, expiration_at = 40, currency_size = 4;
constexpr Layout layouts[] = {
    {360, 88, 186, 200, 22, 248, 7},
    {400, 88, 186, 200, 71, 297, 7},
    {520, 80, 224, 238, 71, 335, 11},
};

const Layout* layout_of(std::size_t size) {
  for (const Layout& layout : layouts)
    if (layout.size == size) return &layout;
  return nullptr;
}

/// A price that is defined and above zero.
std::optional<std::int64_t> positive(std::int64_t value) {
  if (value <= 0 || value == dbn::undefined_price) return std::nullopt;
  return value;
}

InstrumentDefinition read_definition(const DbnRecord& record, const Layout& layout) {
  InstrumentDefinition definition;
  definition.symbol = text_at(record.bytes + layout.symbol, layout.symbol_size);
  definition.asset = text_at(record.bytes + layout.asset, layout.asset_size);
  definition.currency = text_at(record.bytes + layout.currency, currency_size);
  definition.tick_size = positive(record.field<std::int64_t>(tick_at));
  if (const auto quantity = positive(record.field<std::int64_t>(layout.multiplier)))
    definition.multiplier = static_cast<double>(*quantity) / static_cast<double>(price_scale);
  const auto expiration = record.field<std::uint64_t>(expiration_at);
  if (expiration <= dbn::latest_time) definition.expiration = static_cast<std::int64_t>(expiration);
  return definition;
}

}  // namespace

std::map<std::uint32_t, InstrumentDefinition> read_definitions(const std::filesystem::path& file) {
  SymbolNames symbols;
  DbnRecords records(file, {}, symbols);
  const std::size_t send_time = records.metadata().ts_out ? 8 : 0;
  std::map<std::uint32_t, InstrumentDefinition> definitions;
  records.for_each([&](const DbnRecord& record) {
    if (record.rtype() != dbn::rtype::definition) return false;
    const Layout* layout = record.size > send_time ? layout_of(record.size - send_time) : nullptr;
    if (!layout)
      records.stream().fail(record, fmt::format("a definition of {} bytes, expected 360, 400 or 520 (version 1, 2 or "
                                                "3); the file is damaged, fetch it again",
                                                record.size - send_time));
    definitions[record.instrument()] = read_definition(record, *layout);
    return true;
  });
  if (definitions.empty()) records.fail_without("definition", {}, "download schema definition");
  return definitions;
}

Contract contract_of(const InstrumentDefinition& definition) {
  const std::string symbol = definition.asset.empty() ? definition.symbol : definition.asset;
  Contract contract = contract_for(symbol);
  if (definition.tick_size) contract.tick_size = *definition.tick_size;
  if (definition.multiplier) contract.multiplier = *definition.multiplier;
  return contract;
}

}  // namespace foxhunt::market
