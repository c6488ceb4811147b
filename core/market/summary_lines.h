#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/market/books.h"
#include "core/market/definitions.h"
#include "core/market/tape.h"

// Pieces of describe_market.
namespace foxhunt::market {

inline void add_line(std::string& text, const std::string& name, const std::string& value) {
  text += fmt::format("  {:<10} {}\n", name, value);
}

/// "3 of this, 2 of that"; "none" of none.
template <class Map>
std::string list_or_none(const Map& map) {
  std::string text;
  for (const auto& [key, value] : map) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value, key);
  return text.empty() ? "none" : text;
}

/// Of a table with columns instrument and symbols: the contract of its first row.
template <class Table>
Contract contract_of_first(const Table& table) {
  if (table.instrument.empty()) return contract_for("");
  const auto first = table.symbols.find(table.instrument.front());
  return contract_for(first == table.symbols.end() ? "" : first->second);
}

/// "ESZ3 (instrument 100, 8198 rows), ..." of a table with columns instrument and symbols.
template <class Table>
std::string list_symbols(const Table& table) {
  std::map<std::uint32_t, std::int64_t> rows;
  for (const std::uint32_t instrument : table.instrument) ++rows[instrument];
  std::string text;
  for (const auto& [instrument, count] : rows) {
    const auto name = table.symbols.find(instrument);
    text += fmt::format("{}{} (instrument {}, {} rows)", text.empty() ? "" : ", ",
                        name == table.symbols.end() ? "unnamed" : name->second, instrument, count);
  }
  return text;
}

/// What read_books, read_trades or read_definitions made of a file, a line a fact.
void describe_books(std::string& text, const Books& books, const TapeOptions& options);
void describe_trades(std::string& text, const Trades& trades, const TapeOptions& options);
void describe_definitions(std::string& text, const std::map<std::uint32_t, InstrumentDefinition>& definitions);

}  // namespace foxhunt::market
