#pragma once
#include <memory>
#include <string>
#include <unordered_map>

#include "core/market/books.h"
#include "core/market/dbn_symbols.h"
#include "core/market/instrument_choice.h"
#include "core/market/mbo_book.h"

namespace foxhunt::market {

/// Takes snapshots in file order, leaves out those that cannot be true or were not asked for, counting why, and adds up
/// what traded between them.
class BookCollector {
 public:
  struct Instrument {
    bool wanted = false;
    std::int64_t last_recv = INT64_MIN;
    std::int64_t trade_price = no_price;
    std::uint64_t bought = 0, sold = 0;  ///< since the last row
    MboBook book;                        ///< of schema mbo
  };

  /// `levels` is 1 or 10; `wanted` as in ReadOptions::instrument; `symbols` may grow.
  BookCollector(int levels, const std::string& wanted, const SymbolNames& symbols);

  /// The state of an instrument, valid for good.
  Instrument& of(std::uint32_t id);

  /// A trade that the next row of its instrument counts.
  void add_trade(Instrument& instrument, std::int64_t price, std::uint32_t size, char side);

  /// A row of a wanted instrument; `levels` as in Books::level, at any address. Throws nothing.
  void add(Instrument& instrument, std::uint32_t id, std::uint64_t ts_event, std::uint64_t ts_recv, const char* levels);

  void reject(const char* reason) { ++books_.rejects[reason]; }
  void skip_unwanted() { ++unwanted_; }
  std::size_t rows() const { return books_.rows(); }
  void reserve(std::size_t rows);

  /// Throws Error(data) when records came and none is of a wanted instrument.
  void check_found(const std::string& source) const { filter_.check_found(source); }
  const std::map<std::string, std::int64_t>& rejects() const { return books_.rejects; }

  /// One instrument at a time, as Books says; schema and source are left to the caller.
  Books finish() &&;

 private:
  static const char* fault(const Instrument& instrument, std::uint64_t ts_recv, const BookLevel& best);

  Books books_;
  std::int64_t unwanted_ = 0;
  const SymbolNames& symbols_;
  InstrumentFilter filter_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Instrument>> instruments_;
  std::uint32_t last_id_ = 0;
  Instrument* last_ = nullptr;  ///< the instrument of last_id_: rows of one come in runs
};

}  // namespace foxhunt::market
