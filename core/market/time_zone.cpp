#include "core/market/time_zone.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

/// Keeps Abseil from reading a file by its path, and from "localtime", which differs from machine to machine.
bool may_be_zone(const std::string& name) {
  const bool letters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '+' || c == '-';
  });
  return letters && !name.empty() && name.front() != '/' && name != "localtime";
}

absl::TimeZone load(const std::string& name) {
  absl::TimeZone zone;
  if (may_be_zone(name) && absl::LoadTimeZone(name, &zone)) return zone;
  absl::TimeZone known;
  if (!absl::LoadTimeZone("Europe/London", &known))
    throw Error(ExitCode::usage, fmt::format("time zone \"{}\" cannot be looked up: this machine has no time zone "
                                             "database; install the package tzdata",
                                             name));
  throw Error(ExitCode::usage,
              fmt::format("no time zone \"{}\" in this machine's tzdata; expected an IANA name such as "
                          "\"America/Chicago\" (capitals matter) or \"UTC\"; if it is a new one, "
                          "update the package tzdata",
                          name));
}

std::int64_t ns_of(absl::Time time) { return absl::ToUnixNanos(time); }

}  // namespace

TimeZone::TimeZone(const std::string& name) : name_(name), zone_(load(name)) {}

std::int64_t TimeZone::offset_at(std::int64_t utc) const {
  return zone_.At(absl::FromUnixNanos(utc)).offset * ns_per_second;
}

TimeZone::Instants TimeZone::instants(std::int64_t local) const {
  const std::int64_t seconds = floor_div(local, ns_per_second), fraction = local - seconds * ns_per_second;
  const auto info = zone_.At(absl::CivilSecond(1970) + seconds);
  switch (info.kind) {
    case absl::TimeZone::TimeInfo::REPEATED:
      return {ns_of(info.pre) + fraction, ns_of(info.post) + fraction, true};
    case absl::TimeZone::TimeInfo::SKIPPED:
      return {ns_of(info.pre) + fraction, ns_of(info.pre) + fraction, false};
    default:
      return {ns_of(info.pre) + fraction, ns_of(info.pre) + fraction, true};
  }
}

void LocalClock::look_up_hour(std::int64_t local) {
  hour_begin_ = floor_div(local, ns_per_hour) * ns_per_hour;
  hour_end_ = hour_begin_ + ns_per_hour;
  const auto first = zone_.instants(hour_begin_), last = zone_.instants(hour_end_ - 1);
  const auto unique = [](const TimeZone::Instants& at) { return at.exists && at.first == at.second; };
  offset_ = hour_begin_ - first.first;
  plain_ = unique(first) && unique(last) && last.first - first.first == ns_per_hour - 1;
}

}  // namespace foxhunt::market
