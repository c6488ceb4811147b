#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/market/contract.h"

namespace foxhunt::market {

/// A numeric column of the file beside the bars', which becomes a feature of its name. NaN: the file has no value
/// there.
struct ExtraColumn {
  std::string name;
  std::vector<double> values;
};

/// Bars as a reader delivers them, ascending by time within an instrument. All columns have the same length.
struct Bars {
  std::vector<std::int64_t> ts_open;                 ///< UTC ns at which the bar starts
  std::vector<std::int64_t> open, high, low, close;  ///< 1e-9 points
  std::vector<std::uint64_t> volume;
  std::vector<std::uint32_t> instrument;
  std::vector<ExtraColumn> extra;                ///< known at the bar's close
  std::int64_t interval = 0;                     ///< ns that a bar spans
  std::map<std::uint32_t, std::string> symbols;  ///< raw symbol of an instrument id, where the file says so
  std::map<std::string, std::int64_t> rejects;   ///< rows left out, by reason
  std::vector<std::string> notes;                ///< what the reader took for granted, a line each
  std::string schema;                            ///< e.g. "ohlcv-1m"
  std::string source;                            ///< file or folder it came from

  std::size_t size() const { return ts_open.size(); }
};

/// What is known of bars as a whole, without the rows: interval, symbols, rejects, notes, schema, source.
Bars without_rows(Bars bars);

enum RowFlag : std::uint8_t {
  last_of_session = 1,  ///< no row of this session follows: nothing decided here can be filled
  roll = 2,             ///< the next row is another instrument
  gap_before = 4,       ///< rows are missing between the previous row and this one, within the session
};

/// The time-ordered truth that everything else reads, in columns (DESIGN 6). Row i is known at ts[i]; an order decided
/// at row i is filled at fill_mid[i], which lies after it. On a last_of_session row fill_mid equals mid.
///
/// What row i shows depends on rows up to i alone, but for what its order meets: fill_mid, the half_spread of a book,
/// and last_of_session and roll, which close a position where no order can. Those look one row ahead (of books, as far
/// as the fill lies): changing rows after i + 1 changes nothing at or before row i of a tape of bars.
struct Tape {
  std::vector<std::int64_t> ts;           ///< UTC ns at which the row is known: a bar's close
  std::vector<std::int64_t> mid;          ///< 1e-9 points
  std::vector<std::int64_t> fill_mid;     ///< 1e-9 points: the next bar's open
  std::vector<std::int64_t> half_spread;  ///< 1e-9 points
  std::vector<std::int32_t> session;      ///< ascending from 0
  std::vector<std::uint32_t> instrument;
  std::vector<std::uint8_t> flags;  ///< RowFlag bits
  std::string calendar = "none";    ///< what divided the sessions besides pauses: one of calendar_names()
  Bars bars;                        ///< row i's own bar, for the features; same length
  Contract contract;

  std::size_t rows() const { return ts.size(); }
};

struct TapeOptions {
  std::int64_t session_gap = 30LL * 60 * 1'000'000'000;  ///< ns; a longer pause starts a new session
  std::string calendar = "auto";  ///< a change of its trading date does too; auto: the contract's, see calendar_for
  double spread_ticks = 1;        ///< between bid and ask; bars carry no book
};

/// The pause that ends a session, in ns. A setting shorter than two bars would end one at every missing bar, or between
/// daily bars: it is taken as ten bars, so daily bars run on over weekends and holidays.
std::int64_t effective_session_gap(std::int64_t interval, const TapeOptions& options);

/// Marks sessions (another trading date of the calendar, a pause longer than session_gap, or another instrument starts
/// a new one), gaps and rolls. A pause is the time from one bar's close to the next bar's open; a bar's trading date is
/// that of its open. Bars of a day or more have no calendar. What the sessions showed (early closes, rows outside the
/// hours) is added to bars.notes. Bars carry no book: the half spread is that of spread_ticks. Throws Error(data) when
/// there is no bar, or columns differ in length, or times do not ascend, and Error(usage) for a calendar that there is
/// not.
Tape make_tape(Bars bars, const Contract& contract, const TapeOptions& options);

/// Sets session, the flags last_of_session and roll, and calendar, from ts, instrument and bars.ts_open of a tape of
/// one row or more, as make_tape describes.
void mark_sessions(Tape& tape, const TapeOptions& options);

/// Sets fill_mid and the flag gap_before of a tape of bars whose sessions are marked.
void fill_at_next_open(Tape& tape);

/// Half-open range of tape rows.
struct Split {
  std::int64_t begin = 0, end = 0;
  std::int64_t rows() const { return end - begin; }
};

struct Splits {
  Split train, validation, test;
};

/// Chronological, with `purge_rows` rows left out at the start of validation and of test. Boundaries fall on session
/// starts where there are sessions enough (at least one for each split), else inside a session.
/// Throws Error(data) when a split would hold fewer than `min_rows` rows; says which, how many it has, what to do.
/// Throws Error(usage) for fractions that are not above 0 or leave no room for a test split.
Splits make_splits(const Tape& tape, double train_fraction, double validation_fraction, std::int64_t purge_rows,
                   std::int64_t min_rows);

}  // namespace foxhunt::market
