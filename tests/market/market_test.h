#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include "core/error.h"
#include "core/market/bar_collector.h"
#include "core/market/civil_time.h"
#include "core/market/tape.h"
#include "tests/catch.h"

namespace foxhunt::market {

/// The real market files that are kept beside the source tree; they may be absent.
inline std::filesystem::path real_data() {
  const char* folder = std::getenv("FOXHUNT_TEST_DATA");
  return folder ? std::filesystem::path(folder) : test::source_dir() / ".." / "shared" / "data";
}

/// What an Error of this code says; fails when f throws none.
template <class F>
std::string error_of(ExitCode code, F f) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  FAIL("expected an error");
  return "";
}

/// One line that holds every part.
inline void require_says(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    INFO("'" << message << "' should say '" << part << "'");
    REQUIRE(message.find(part) != std::string::npos);
  }
  REQUIRE(message.find('\n') == std::string::npos);
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline constexpr std::int64_t monday = 1'704'672'000 * ns_per_second;  // 2024-01-08 00:00 UTC
inline constexpr std::int64_t point = price_scale;

/// A bar that starts `minute` minutes after `monday`, prices in points.
inline Bar minute_bar(std::int64_t minute, std::int64_t open, std::int64_t close, std::uint64_t volume = 10,
                      std::uint32_t instrument = 1) {
  return {monday + minute * ns_per_minute,
          open * point,
          std::max(open, close) * point,
          std::min(open, close) * point,
          close * point,
          volume,
          instrument};
}

inline Bars bars_of(std::initializer_list<Bar> list) {
  Bars bars;
  for (const Bar& bar : list) append(bars, bar);
  bars.interval = ns_per_minute;
  bars.schema = "ohlcv-1m";
  bars.source = "test";
  return bars;
}

/// Every |value| < limit; NaN is not. One check for a whole column: millions of them would take minutes.
template <class Values>
bool all_below(const Values& values, double limit) {
  return std::all_of(values.begin(), values.end(), [=](double x) { return std::abs(x) < limit; });
}

inline bool same_bars(const Bars& a, const Bars& b) {
  return a.ts_open == b.ts_open && a.open == b.open && a.high == b.high && a.low == b.low && a.close == b.close &&
         a.volume == b.volume && a.instrument == b.instrument && a.interval == b.interval;
}

}  // namespace foxhunt::market
