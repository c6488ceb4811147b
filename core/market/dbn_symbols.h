#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/market/dbn_stream.h"

namespace foxhunt::market {

/// Instrument id to symbol.
using SymbolNames = std::map<std::uint32_t, std::string>;

/// What the metadata says, in either direction of its mapping (symbol to id or id to symbol). An id that meant several
/// symbols keeps the first.
void note_symbols(const DbnMetadata& metadata, SymbolNames& names);

/// A live stream names its instruments in symbol-mapping records. A symbol that is known already stays.
void note_symbol(const DbnRecord& record, SymbolNames& names);

/// A NUL-padded string of a record or of the metadata, made printable: it ends up in messages and reports.
std::string text_at(const char* first, std::size_t size);

}  // namespace foxhunt::market
