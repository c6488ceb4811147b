#include "core/market/synth_sessions.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/market/civil_time.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t opening = 14 * ns_per_hour + 30 * ns_per_minute;
constexpr std::int64_t basis = 12 * price_scale + price_scale / 2;
constexpr std::int64_t overnight_noise = 6 * price_scale;
constexpr std::uint32_t first_contract = 1001, second_contract = 1002;

void check_share(const char* what, const std::optional<double>& value) {
  if (value && !(*value >= 0 && *value <= 1))
    throw Error(ExitCode::usage, fmt::format("{} must be between 0 and 1, got {}", what, *value));
}

}  // namespace

SynthSessions::SynthSessions(const SynthOptions& options) : options_(options) {
  if (options.sessions < 1 || options.sessions > 10'000)
    throw Error(ExitCode::usage, fmt::format("sessions must be between 1 and 10000, got {}", options.sessions));
  check_share("strength", options.strength);
  check_share("signal", options.signal);
  if (options.strength && (options.kind == MarketKind::walk || options.kind == MarketKind::skewed))
    throw Error(ExitCode::usage, fmt::format("a market of kind {} takes no strength; leave it out or choose trend",
                                             market_kind_name(options.kind)));
}

bool SynthSessions::next() {
  if (++session_ >= options_.sessions) return false;
  if (session_ == 0)
    day_start(2024, 2, 12, midnight_);
  else
    do midnight_ += ns_per_day;
    while (weekday(utc_day(midnight_)) > 4);
  return true;
}

std::int64_t SynthSessions::open() const { return midnight_ + opening; }

bool SynthSessions::halts() const { return options_.holes && session_ == options_.sessions / 2; }

bool SynthSessions::rolled() const {
  return options_.roll && options_.sessions >= 3 && session_ >= options_.sessions * 2 / 3;
}

std::int64_t SynthSessions::overnight_change(SynthRandom& random) {
  if (session_ == 0) return 0;
  const bool rolls = rolled() && session_ == options_.sessions * 2 / 3;
  return overnight_noise / synth_one * random.normal() + (rolls ? basis : 0);
}

std::uint32_t SynthSessions::contract() const { return rolled() ? second_contract : first_contract; }

std::map<std::uint32_t, std::string> SynthSessions::symbols() const {
  std::map<std::uint32_t, std::string> symbols{{first_contract, "ESH4"}};
  if (rolled()) symbols[second_contract] = "ESM4";
  return symbols;
}

}  // namespace foxhunt::market
