#include "core/market/tape.h"

#include <fmt/format.h>

#include <limits>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/session_divider.h"

namespace foxhunt::market {
namespace {

void check_columns(const Bars& bars) {
  const size_t n = bars.size();
  if (n == 0) throw Error(ExitCode::data, fmt::format("{}: no bar to make a tape of", bars.source));
  for (const size_t other : {bars.open.size(), bars.high.size(), bars.low.size(), bars.close.size(), bars.volume.size(),
                             bars.instrument.size()})
    if (other != n)
      throw Error(ExitCode::data,
                  fmt::format("{}: columns of bars differ in length ({} and {})", bars.source, n, other));
  for (const ExtraColumn& column : bars.extra)
    if (column.values.size() != n)
      throw Error(ExitCode::data, fmt::format("{}: column {} has {} values for {} bars", bars.source, column.name,
                                              column.values.size(), n));
  if (bars.interval <= 0)
    throw Error(ExitCode::data,
                fmt::format("{}: a bar's interval must be positive, got {} ns", bars.source, bars.interval));
}

void check_times(const Bars& bars) {
  constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
  // A bar that starts before the one before it has closed would fill an order in the past.
  for (size_t i = 1; i < bars.size(); ++i)
    if (bars.ts_open[i - 1] > latest - bars.interval || bars.ts_open[i] < bars.ts_open[i - 1] + bars.interval)
      throw Error(
          ExitCode::data,
          fmt::format("{}: bar {} at {} starts before bar {} at {} has ended; times must ascend by {} s or more",
                      bars.source, i, format_utc(bars.ts_open[i]), i - 1, format_utc(bars.ts_open[i - 1]),
                      bars.interval / ns_per_second));
  if (bars.ts_open.back() > latest - bars.interval)
    throw Error(ExitCode::data,
                fmt::format("{}: the last bar's time {} is out of range", bars.source, bars.ts_open.back()));
}

}  // namespace

Bars without_rows(Bars bars) {
  Bars rest;
  rest.interval = bars.interval;
  rest.symbols = std::move(bars.symbols);
  rest.rejects = std::move(bars.rejects);
  rest.notes = std::move(bars.notes);
  rest.schema = std::move(bars.schema);
  rest.source = std::move(bars.source);
  return rest;
}

std::int64_t effective_session_gap(std::int64_t interval, const TapeOptions& options) {
  return options.session_gap < 2 * interval ? 10 * interval : options.session_gap;
}

void mark_sessions(Tape& tape, const TapeOptions& options) {
  Bars& bars = tape.bars;
  const bool within_day = bars.interval < ns_per_day;
  const SessionCalendar calendar = calendar_for(within_day ? options.calendar : "none", tape.contract, bars.notes);
  SessionDivider sessions(calendar, effective_session_gap(bars.interval, options));
  tape.calendar = calendar.name();
  tape.session.assign(tape.rows(), 0);
  tape.flags.assign(tape.rows(), 0);
  for (size_t i = 0; i < tape.rows(); ++i) {
    const bool rolls = i > 0 && tape.instrument[i] != tape.instrument[i - 1];
    const bool ends = sessions.starts_session(bars.ts_open[i], tape.ts[i], rolls);
    if (i == 0) continue;
    tape.session[i] = tape.session[i - 1] + ends;
    if (rolls) tape.flags[i - 1] |= RowFlag::roll;
    if (ends) tape.flags[i - 1] |= last_of_session;
  }
  tape.flags.back() |= last_of_session;
  sessions.add_notes(bars.notes);
}

void fill_at_next_open(Tape& tape) {
  tape.fill_mid = tape.mid;
  for (size_t i = 1; i < tape.rows(); ++i) {
    if (tape.flags[i - 1] & last_of_session) continue;
    tape.fill_mid[i - 1] = tape.bars.open[i];
    if (tape.bars.ts_open[i] > tape.ts[i - 1]) tape.flags[i] |= gap_before;
  }
}

Tape make_tape(Bars bars, const Contract& contract, const TapeOptions& options) {
  check_columns(bars);
  check_times(bars);
  const size_t n = bars.size();
  Tape tape;
  tape.contract = contract;
  tape.ts.resize(n);
  tape.mid = bars.close;
  tape.half_spread.assign(
      n, static_cast<std::int64_t>(options.spread_ticks * static_cast<double>(contract.tick_size) / 2));
  tape.instrument = bars.instrument;
  for (size_t i = 0; i < n; ++i) tape.ts[i] = bars.ts_open[i] + bars.interval;
  tape.bars = std::move(bars);
  mark_sessions(tape, options);
  fill_at_next_open(tape);
  return tape;
}

}  // namespace foxhunt::market
