#pragma once
#include "core/market/books.h"
#include "core/market/tape.h"

namespace foxhunt::market {

struct BookTapeOptions {
  TapeOptions tape;
  std::int64_t latency = 0;  ///< ns from a decision to the earliest book that fills it
};

/// A tape with one row for every two-sided book: mid and half spread are the book's. An order decided at row i is
/// filled at the book of the first row of the session that is known after ts[i] + latency, and pays that book's half
/// spread; where the session has none, at its last row's. One-sided rows are left out and counted in
/// tape.bars.rejects.
///
/// tape.bars holds the mids as bars of no extent, traded volume, and as extra columns, which become features: spread,
/// microprice, imbalance of sizes and of orders, order-flow imbalance (Cont, Kukanov & Stoikov 2014), trade flow, time
/// since the row before; then `more`, columns of one value a book, of which each row takes its own book's. Throws
/// Error(data) when fewer than two rows are two-sided, or a column has another length than the books.
Tape make_book_tape(const Books& books, const Contract& contract, const BookTapeOptions& options,
                    const std::vector<ExtraColumn>& more = {});

/// Bars of `interval` ns, from whole multiples of it on, of trades by the time at which they are known.
/// Throws Error(data) when there is no trade.
Bars bars_of_trades(const Trades& trades, std::int64_t interval);

}  // namespace foxhunt::market
