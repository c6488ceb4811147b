#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/market/tape.h"

namespace foxhunt::market {

/// Consecutive rows of a tape that fall into one stretch of time, and so into one longer bar: of one session and one
/// instrument.
struct LongerBar {
  std::size_t begin, end;  ///< rows, half-open
  std::int64_t stop;       ///< UTC ns at which the stretch is over: no row before it knows the whole bar
};

/// The longer bars of `length` ns. Stretches are counted from the opening of each trading day by the tape's calendar
/// (17:00 in Chicago, summer and winter alike), without one from 1970-01-01 00:00 UTC. O(rows). `setting` is the
/// profile's key. Throws Error(usage) when `length` is not a multiple of the rows' interval, or no longer than it.
std::vector<LongerBar> longer_bars(const Tape& tape, std::int64_t length, const std::string& setting);

/// The same market in bars of `length` ns (data.resample_minutes), for a tape of bars: open of the first row, close of
/// the last, the highest high and lowest low, the sum of the volumes, and of each extra column the last value that is
/// known. A row is known when its stretch is over, with minutes missing or not, and filled at the next one's open.
/// Sessions and rolls stay where the rows had them. A session's last bar, whole or cut short, is known at its last
/// row's close; a first one may lack its beginning. Throws Error(usage) as longer_bars.
Tape resample(const Tape& tape, std::int64_t length);

}  // namespace foxhunt::market
