#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/market/contract.h"
#include "core/market/time_zone.h"

namespace foxhunt::market {

/// A trading day of an exchange, in UTC ns. On Globex it opens on the evening before its date. It lasts until the next
/// one opens, so that rows after the close (stragglers, late prints, a pre-open) belong to the day that has ended.
struct TradingDay {
  std::int64_t date = 0;                        ///< days since 1970-01-01 of its local date
  std::int64_t open = 0, close = 0;             ///< trading hours
  std::int64_t break_begin = 0, break_end = 0;  ///< the break within them; equal where there is none
  std::int64_t next_open = 0;                   ///< of the following trading day

  /// Whether the exchange trades at a time of this day.
  bool trades_at(std::int64_t utc) const { return utc < close && !(utc >= break_begin && utc < break_end); }
};

struct ExchangeHours;

/// Trading hours of an exchange by its local clock; daylight saving is the tz database's. Holidays and early closes are
/// no part of it: the data show them.
class SessionCalendar {
 public:
  SessionCalendar() = default;  ///< "none": sessions are divided by pauses alone
  /// One of calendar_names(). Throws Error(usage) that names the nearest one, or tzdata where that is missing.
  explicit SessionCalendar(const std::string& name);

  bool is_none() const { return !hours_; }
  std::string name() const;
  const TimeZone& zone() const { return zone_; }

  /// The trading day that a UTC time falls in. Not of "none".
  TradingDay day_of(std::int64_t utc) const;

 private:
  std::int64_t utc_of(std::int64_t date, int minute) const;

  const ExchangeHours* hours_ = nullptr;
  TimeZone zone_;
};

/// day_of() of many times that ascend, or nearly so, at a few ns each: it remembers the last day.
class SessionClock {
 public:
  explicit SessionClock(SessionCalendar calendar) : calendar_(std::move(calendar)) {}
  const SessionCalendar& calendar() const { return calendar_; }

  const TradingDay& day_of(std::int64_t utc) {
    if (utc < day_.open || utc >= day_.next_open) day_ = calendar_.day_of(utc);
    return day_;
  }

 private:
  SessionCalendar calendar_;
  TradingDay day_;
};

/// "none", "24x7", "cme-equity-index", "cme-energy-metals", "cme-fx", "us-equities".
const std::vector<std::string>& calendar_names();

/// What data.calendar gives a contract: "auto" is the contract's own calendar, anything else a name. Where tzdata is
/// missing, "auto" is "none", and a line of `notes` says so; a name throws Error(usage), as does one that is unknown.
SessionCalendar calendar_for(const std::string& setting, const Contract& contract, std::vector<std::string>& notes);

}  // namespace foxhunt::market
