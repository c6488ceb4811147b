#pragma once
#include <string>

#include "core/market/tape.h"

namespace foxhunt::market {

/// Whether bars are stamped with the time at which they close, as seen from `bars`, whose times are the file's own.
struct StampGuess {
  bool close;
  std::string reason;  ///< for a person
};

/// Markets open and close on the quarter hour: so of bars shorter than that, the first after a pause of half an hour or
/// more begins on one, and the last before it ends on one. Where that does not say "close" clearly, it is open: to
/// take a close for an open only makes the market known one bar late, the other mistake would show the future.
StampGuess guess_stamp(const Bars& bars);

}  // namespace foxhunt::market
