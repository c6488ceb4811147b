#include "core/market/dbn_symbols.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"

namespace foxhunt::market {
namespace {

bool parse_id(const std::string& text, std::uint32_t& id) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string text_at(const char* first, std::size_t size) {
  return printable(std::string(first, std::find(first, first + size, '\0')));
}

void note_symbols(const DbnMetadata& metadata, SymbolNames& names) {
  const bool to_id = metadata.stype_out == dbn::stype::instrument_id;
  const bool from_id = metadata.stype_in == dbn::stype::instrument_id;
  if (!to_id && !from_id) return;
  for (const DbnMapping& mapping : metadata.mappings) {
    std::uint32_t id = 0;
    if (parse_id(to_id ? mapping.mapped : mapping.symbol, id))
      names.try_emplace(id, to_id ? mapping.symbol : mapping.mapped);
  }
}

void note_symbol(const DbnRecord& record, SymbolNames& names) {
  // Of two strings the second is the raw symbol; version 2 puts the symbol types before them.
  constexpr std::size_t size_v1 = 80, size_v2 = 176;
  if (record.size < size_v1) return;
  const bool v1 = record.size < size_v2;
  const std::size_t length = v1 ? dbn::symbol_size_v1 : dbn::symbol_size;
  names.try_emplace(record.instrument(), text_at(record.bytes + (v1 ? 16 + length : 18 + length), length));
}

}  // namespace foxhunt::market
