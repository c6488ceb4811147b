#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/device/device.h"
#include "core/market/book_model.h"
#include "core/market/contract.h"
#include "core/market/reader.h"
#include "core/profile/profile.h"

namespace foxhunt::run {

/// data.path, or the bundled data of the profile's model: futures-baseline or alpha-baseline. Throws Error(usage) when
/// that is nowhere.
std::filesystem::path market_source(const profile::Profile& profile);

/// How a profile wants its market files read.
market::ReadOptions read_options(const profile::Profile::Data& data);

/// Opens the model that features.alpha names; gives none where that is empty.
using OpenBookModel = std::function<std::unique_ptr<market::BookModel>(Device&, const profile::Profile&)>;
inline std::unique_ptr<market::BookModel> no_book_model(Device&, const profile::Profile&) { return nullptr; }

/// What tells the data that a run was trained on, recorded with it: {"source", "files", "bytes", "xxh64"}, and of a
/// model that made features "alpha": {"checkpoint", "xxh64"}. Reads every byte. Throws Error(data).
nlohmann::ordered_json data_report(const std::filesystem::path& source, const market::BookModel* model = nullptr);

/// The built-in contract of the profile's symbol, or without one of `symbol`, with what the profile says of it.
market::Contract contract_of(const profile::Profile::Contract& wanted, const std::string& symbol);

/// The same for anything with symbols and a column of instruments: bars, books.
template <class Rows>
market::Contract contract_of(const profile::Profile::Contract& wanted, const Rows& rows) {
  std::string symbol;
  if (!rows.symbols.empty() && !rows.instrument.empty()) {
    const auto found = rows.symbols.find(rows.instrument.front());
    symbol = found != rows.symbols.end() ? found->second : rows.symbols.begin()->second;
  }
  return contract_of(wanted, symbol);
}

}  // namespace foxhunt::run
