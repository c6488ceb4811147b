#include "core/market/csv_instruments.h"

#include <fmt/format.h>

#include <charconv>

#include "core/error.h"

namespace foxhunt::market {

std::uint32_t CsvInstruments::of(const CsvRows& rows) {
  const std::string_view symbol = symbol_column_ >= 0 ? rows.field(symbol_column_) : std::string_view{};
  if (id_column_ < 0 && symbol == last_symbol_) return last_id_;
  const std::uint32_t id = number_of(rows, symbol);
  if (id != last_id_ || symbol != last_symbol_) {
    if (!symbol.empty()) symbols_.try_emplace(id, printable(std::string(symbol)));
    last_id_ = id, last_symbol_ = symbol;
  }
  return id;
}

std::uint32_t CsvInstruments::number_of(const CsvRows& rows, std::string_view symbol) {
  if (id_column_ < 0) {
    const auto known = ids_.find(symbol);
    if (symbol.empty() || known != ids_.end()) return symbol.empty() ? 0 : known->second;
    return ids_.emplace(symbol, static_cast<std::uint32_t>(ids_.size() + 1)).first->second;
  }
  std::uint32_t id = 0;
  const std::string_view text = rows.field(id_column_);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size())
    rows.fail(fmt::format("instrument_id {} is not a whole number; correct or remove the line", quoted_field(text)));
  return id;
}

}  // namespace foxhunt::market
