#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "core/market/books.h"
#include "core/market/csv_options.h"
#include "core/market/tape.h"

namespace foxhunt::market {

/// What becomes of a file whose records end in damage: cut short, lengths that lie, broken compression.
enum class DamagePolicy {
  fail,        ///< Error(data)
  keep_start,  ///< what came before the damage stays; a note says what is lost
};

struct ReadOptions {
  CsvOptions csv{};  ///< how CSV files are written

  /// The instrument to read where a file holds several (data.instrument): an id, a raw symbol, a parent ("ES.FUT") or a
  /// root ("ES"). Where that still leaves several, and for "", the front contract stays: see front_rows.
  std::string instrument{};
  DamagePolicy on_damage = DamagePolicy::fail;
  bool may_be_empty = false;  ///< books and trades: no row left is no error (for a look at a file)
  /// Told now and then how many bytes of the file, or of all files of a folder, have been read.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress{};
};

/// Bars of a market file, or of the market files of a folder: DBN (.dbn, .dbn.zst) before CSV (.csv). Several DBN bar
/// files are read in the order of their names as one, when each starts after the one before has ended; of CSV files
/// there may be one. Throws Error(data), one line that names file, byte or line, reason and remedy.
Bars read_bars(const std::filesystem::path& file_or_folder, const ReadOptions& options = {});

/// Books of a DBN or CSV file, or of the DBN files of a folder that hold some, in the order of their names as one.
/// Throws Error(data).
Books read_books(const std::filesystem::path& file_or_folder, const ReadOptions& options = {});

/// The same of trades.
Trades read_trades(const std::filesystem::path& file_or_folder, const ReadOptions& options = {});

/// What can be read of a file or folder.
enum class MarketContent { bars, books, trades, definitions, other };

/// Of a file: by its metadata, or where that says "mixed" (and of several kinds the first in the order of the enum) by
/// its records. CSV by its header. Of a folder: the first kind that one of its files holds. Throws Error(data).
MarketContent market_content_of(const std::filesystem::path& file_or_folder, const ReadOptions& options = {});

/// Of the records of a DBN file, by name of their type (DbnContents::records).
MarketContent content_of_records(const std::map<std::string, std::int64_t>& records);

/// By its name (.dbn, .dbn.zst, and .dbz and .dbn.frag, which the reader turns down) or else by its first bytes.
bool is_dbn(const std::filesystem::path& file);

}  // namespace foxhunt::market
