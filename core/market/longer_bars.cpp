#include "core/market/longer_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/session_calendar.h"

namespace foxhunt::market {
namespace {

void check_length(const Tape& tape, std::int64_t length, const std::string& setting) {
  const std::int64_t interval = tape.bars.interval;
  if (length <= interval || length % interval != 0)
    throw Error(ExitCode::usage,
                fmt::format("{}: {} minutes are not a multiple, twice or more, of the {} s that a row of {} spans; "
                            "give such a multiple, or leave it out",
                            setting, length / ns_per_minute, interval / ns_per_second, tape.bars.source));
}

/// Last value of rows [begin, end) that is known; NaN when none is.
double last_known(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  while (end > begin + 1 && std::isnan(values[end - 1])) --end;
  return values[end - 1];
}

void append_bar(Bars& to, const Bars& rows, const LongerBar& bar) {
  const auto first = static_cast<std::ptrdiff_t>(bar.begin), last = static_cast<std::ptrdiff_t>(bar.end);
  to.open.push_back(rows.open[bar.begin]);
  to.high.push_back(*std::max_element(rows.high.begin() + first, rows.high.begin() + last));
  to.low.push_back(*std::min_element(rows.low.begin() + first, rows.low.begin() + last));
  to.close.push_back(rows.close[bar.end - 1]);
  std::uint64_t volume = 0;
  for (std::size_t i = bar.begin; i < bar.end; ++i) volume += rows.volume[i];
  to.volume.push_back(volume);
  to.instrument.push_back(rows.instrument[bar.begin]);
  for (std::size_t k = 0; k < to.extra.size(); ++k)
    to.extra[k].values.push_back(last_known(rows.extra[k].values, bar.begin, bar.end));
}

}  // namespace

std::vector<LongerBar> longer_bars(const Tape& tape, std::int64_t length, const std::string& setting) {
  check_length(tape, length, setting);
  SessionClock clock{SessionCalendar(tape.calendar)};
  const bool by_calendar = !clock.calendar().is_none();
  std::vector<LongerBar> bars;
  for (std::size_t i = 0; i < tape.rows(); ++i) {
    const std::int64_t begins = tape.bars.ts_open[i];
    const bool cut = i == 0 || tape.session[i] != tape.session[i - 1];  // a roll ends a session too
    if (cut || begins >= bars.back().stop) {
      const std::int64_t origin = by_calendar ? clock.day_of(begins).open : 0;
      bars.push_back({i, i, origin + (floor_div(begins - origin, length) + 1) * length});
    }
    bars.back().end = i + 1;
  }
  return bars;
}

Tape resample(const Tape& tape, std::int64_t length) {
  const std::vector<LongerBar> bars = longer_bars(tape, length, "data.resample_minutes");
  Tape longer;
  longer.contract = tape.contract;
  longer.calendar = tape.calendar;
  longer.bars = without_rows(tape.bars);
  longer.bars.interval = length;
  for (const ExtraColumn& column : tape.bars.extra) longer.bars.extra.push_back({column.name, {}});
  for (const LongerBar& bar : bars) {
    const std::size_t last = bar.end - 1;
    const auto ends = static_cast<std::uint8_t>(tape.flags[last] & (last_of_session | roll));
    longer.bars.ts_open.push_back(bar.stop - length);
    append_bar(longer.bars, tape.bars, bar);
    longer.ts.push_back(ends ? tape.ts[last] : std::max(bar.stop, tape.ts[last]));
    longer.session.push_back(tape.session[last]);
    longer.half_spread.push_back(tape.half_spread[last]);
    longer.flags.push_back(ends);
  }
  longer.mid = longer.bars.close;
  longer.instrument = longer.bars.instrument;
  fill_at_next_open(longer);
  longer.bars.notes.push_back(fmt::format("{} rows were put into {} bars of {} minutes (data.resample_minutes)",
                                          tape.rows(), longer.rows(), length / ns_per_minute));
  return longer;
}

}  // namespace foxhunt::market
