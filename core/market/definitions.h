#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/market/contract.h"

namespace foxhunt::market {

/// What a venue says of an instrument (DBN schema definition).
struct InstrumentDefinition {
  std::string symbol;                      ///< raw, e.g. ESM3
  std::string asset;                       ///< root, e.g. ES
  std::string currency;                    ///< of prices, e.g. USD
  std::optional<std::int64_t> tick_size;   ///< 1e-9 points
  std::optional<double> multiplier;        ///< currency per point and contract
  std::optional<std::int64_t> expiration;  ///< UTC ns of the last time it can trade
};

/// By instrument id; of several records of an instrument the last holds. The layout follows each record's length, so
/// that any version, and a mixed file, is read. Throws Error(data); a file without a definition says what it holds.
std::map<std::uint32_t, InstrumentDefinition> read_definitions(const std::filesystem::path& file);

/// Tick and multiplier as defined; those that are not, and the commission, which no venue defines, from the built-in
/// table.
Contract contract_of(const InstrumentDefinition& definition);

}  // namespace foxhunt::market
