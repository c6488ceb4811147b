#pragma once
#include <absl/time/time.h>

#include <cstdint>
#include <string>

namespace foxhunt::market {

/// A time zone of the IANA database, as this machine's tzdata has it (read through Abseil). Times are ns since
/// 1970-01-01 00:00; a local time is the wall clock's reading counted as if it were UTC.
class TimeZone {
 public:
  TimeZone() = default;  ///< UTC, for which no tzdata is needed
  /// "America/Chicago", "UTC". Throws Error(usage) that names the zone, and the package where tzdata is missing.
  explicit TimeZone(const std::string& name);

  const std::string& name() const { return name_; }

  /// What the wall clock is ahead of UTC at a UTC time, ns; below 0 west of Greenwich.
  std::int64_t offset_at(std::int64_t utc) const;

  /// The UTC times at which the wall clock shows `local`. A clock that is set back shows an hour twice: then `first` is
  /// before `second`; else they are equal. A clock that is set forward never shows some hour: then `exists` is false,
  /// and both are what the clock's reading would have been without the change (02:30 becomes 03:30 summer time).
  struct Instants {
    std::int64_t first = 0, second = 0;
    bool exists = true;
  };
  Instants instants(std::int64_t local) const;

  /// instants(local).first: the earlier of two, later by the jump where there is none.
  std::int64_t to_utc(std::int64_t local) const { return instants(local).first; }

 private:
  std::string name_ = "UTC";
  absl::TimeZone zone_ = absl::UTCTimeZone();
};

/// instants() of many times that lie close to one another, at a few ns each: it remembers the last hour.
class LocalClock {
 public:
  explicit LocalClock(TimeZone zone) : zone_(std::move(zone)) {}
  const TimeZone& zone() const { return zone_; }

  TimeZone::Instants instants(std::int64_t local) {
    if (local < hour_begin_ || local >= hour_end_) look_up_hour(local);
    return plain_ ? TimeZone::Instants{local - offset_, local - offset_} : zone_.instants(local);
  }

 private:
  void look_up_hour(std::int64_t local);

  TimeZone zone_;
  std::int64_t hour_begin_ = 0, hour_end_ = 0;  ///< local
  std::int64_t offset_ = 0;
  bool plain_ = false;  ///< the clock is not changed within this hour
};

}  // namespace foxhunt::market
