#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/market/contract.h"
#include "core/market/synth.h"
#include "core/market/synth_random.h"

namespace foxhunt::market {

inline constexpr std::int64_t synth_tick = 250'000'000;
inline constexpr std::int64_t synth_start_price = 5000 * price_scale;
inline constexpr std::int64_t synth_lowest_price = 100 * price_scale;
inline constexpr std::int64_t synth_halt = 45LL * 60 * 1'000'000'000;  ///< ns

constexpr std::int64_t on_synth_grid(std::int64_t price) { return (price + synth_tick / 2) / synth_tick * synth_tick; }

/// The sessions of a generated market, one a weekday, and the contracts that they trade.
class SynthSessions {
 public:
  /// Throws Error(usage) for options that bars and books share.
  explicit SynthSessions(const SynthOptions& options);

  /// Goes to the next session, before the first call to the first; false after the last.
  bool next();

  std::int64_t index() const { return session_; }
  std::int64_t open() const;                             ///< UTC ns
  bool halts() const;                                    ///< trading pauses for synth_halt somewhere in the session
  std::int64_t overnight_change(SynthRandom& random);    ///< of the price before the session, 0 before the first
  std::uint32_t contract() const;                        ///< instrument id
  std::map<std::uint32_t, std::string> symbols() const;  ///< of the contracts up to now

 private:
  bool rolled() const;

  const SynthOptions options_;
  std::int64_t session_ = -1;
  std::int64_t midnight_ = 0;
};

}  // namespace foxhunt::market
