#pragma once
#include "core/market/time_text.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {

/// UTC ns of "2024-03-10 08:00".
inline std::int64_t utc(const char* text) { return parse_time(text, TimeFormat::iso)->ns; }

/// Adds one-minute bars from one UTC time up to another, of one price.
inline void trade(Bars& bars, const char* from, const char* to, std::int64_t price = 100,
                  std::uint32_t instrument = 1) {
  bars.interval = ns_per_minute;
  bars.schema = "ohlcv-1m";
  bars.source = "test";
  for (std::int64_t ts = utc(from); ts < utc(to); ts += ns_per_minute)
    append(bars, {ts, price * point, price * point, price * point, price * point, 10, instrument});
}

/// UTC times at which sessions start, as text.
inline std::vector<std::string> session_starts(const Tape& tape) {
  std::vector<std::string> starts;
  for (std::size_t i = 0; i < tape.rows(); ++i)
    if (i == 0 || tape.session[i] != tape.session[i - 1]) starts.push_back(format_utc(tape.bars.ts_open[i]));
  return starts;
}

/// The note that holds `part`, or "".
inline std::string note_with(const Tape& tape, const std::string& part) {
  for (const std::string& note : tape.bars.notes)
    if (note.find(part) != std::string::npos) return note;
  return "";
}

}  // namespace foxhunt::market
