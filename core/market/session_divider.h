#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/market/session_calendar.h"

namespace foxhunt::market {

/// Divides rows that come in time order into sessions: one starts where the trading date changes, and after a pause
/// longer than the gap (a halt, a holiday, a hole). On the way it finds what the calendar does not know.
///
/// A row outside the calendar's hours stays, in the session of the trading date that opened last, and is counted. A
/// trading date ended early when its last row comes half an hour or more before the time at which the data's dates
/// usually end (the median distance from the calendar's close, so that data of regular hours alone do not end early
/// every day), while another date follows within four days. One that ends in the first half of its hours has a hole,
/// and the last date may still go on: neither counts.
class SessionDivider {
 public:
  /// `gap` in ns.
  SessionDivider(SessionCalendar calendar, std::int64_t gap) : clock_(std::move(calendar)), gap_(gap) {}

  /// Takes the next row, which begins and is known at these UTC times, ns. True when it starts a session after another;
  /// depends on this row and the one before alone. `other_instrument`: of a roll, which always starts one.
  bool starts_session(std::int64_t begin, std::int64_t known, bool other_instrument);

  /// Adds what the rows so far showed, a line each: rows outside the hours, early closes with their times.
  void add_notes(std::vector<std::string>& notes) const;

 private:
  /// A trading date that rows fell in, and how long before its close the last one was known; below 0 after it.
  struct Date {
    std::int64_t date, last, left, half_left;
  };
  bool enters_date(std::int64_t begin, std::int64_t known);
  std::vector<Date> early_closes() const;

  SessionClock clock_;
  std::int64_t gap_;
  std::optional<std::int64_t> known_before_;
  std::int64_t rows_ = 0, outside_ = 0;
  std::vector<Date> dates_;
};

}  // namespace foxhunt::market
