#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/market/csv_rows.h"

namespace foxhunt::market {

/// Tells the instruments of a file apart, by an id, by a symbol, or not at all: then there is one, of id 0.
class CsvInstruments {
 public:
  /// Columns of the id and of the symbol; -1 where there is none. A file of symbols alone numbers them from 1.
  CsvInstruments(int id_column, int symbol_column) : id_column_(id_column), symbol_column_(symbol_column) {}

  /// The id of the row that `rows` is at. Throws Error(data) for one that is no number.
  std::uint32_t of(const CsvRows& rows);

  /// Grows while rows are read.
  const std::map<std::uint32_t, std::string>& symbols() const { return symbols_; }

 private:
  std::uint32_t number_of(const CsvRows& rows, std::string_view symbol);

  int id_column_, symbol_column_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::map<std::uint32_t, std::string> symbols_;
  std::string last_symbol_;
  std::uint32_t last_id_ = 0;
};

}  // namespace foxhunt::market
