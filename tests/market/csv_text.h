#pragma once
// Writes bars as CSV in many ways.
#include <fmt/format.h>
#include <zlib.h>

#include <random>
#include <vector>

#include "core/market/decimal.h"
#include "core/market/reader.h"
#include "core/market/time_text.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {

/// What a file may look like that holds the same bars.
struct CsvStyle {
  TimeFormat time = TimeFormat::iso;
  bool header = true, newest_first = false;
  bool crlf = false, byte_order_mark = false, quotes = false, blank_lines = false, last_line_ends = true;
  bool comma_decimals = false, thousands = false, exponents = false, long_decimals = false;
  char separator = ',';
};

inline std::string time_text(std::int64_t ns, TimeFormat format) {
  const std::string utc = format_utc(ns);
  switch (format) {
    case TimeFormat::iso:
      return utc;
    case TimeFormat::dotted:
      return utc.substr(8, 2) + "." + utc.substr(5, 2) + "." + utc.substr(0, 4) + utc.substr(10) + ".000";
    case TimeFormat::epoch_s:
      return std::to_string(ns / ns_per_second);
    case TimeFormat::epoch_ms:
      return std::to_string(ns / 1'000'000);
    case TimeFormat::epoch_us:
      return std::to_string(ns / 1'000);
    case TimeFormat::epoch_ns:
      return std::to_string(ns);
  }
  return "";
}

inline std::string number_text(std::int64_t price, const CsvStyle& style) {
  std::string text = format_price(price);
  if (style.exponents) {
    // -1234.5 as -12345e-1
    const std::size_t dot = text.find('.');
    const std::size_t decimals = dot == std::string::npos ? 0 : text.size() - dot - 1;
    if (decimals) text.erase(dot, 1);
    return text + "e-" + std::to_string(decimals);
  }
  if (style.long_decimals) text += text.find('.') == std::string::npos ? ".00000000000004" : "";
  const char mark = style.comma_decimals ? ',' : '.', group = style.comma_decimals ? '.' : ',';
  std::size_t whole = std::min(text.find('.'), text.size());
  if (whole < text.size()) text[whole] = mark;
  if (style.thousands)
    for (const std::size_t first = text[0] == '-' ? 1 : 0; whole > first + 3; text.insert(whole, 1, group)) whole -= 3;
  return text;
}

inline std::string csv_text(const Bars& bars, const CsvStyle& style) {
  const std::string end = style.crlf ? "\r\n" : "\n";
  std::string text = style.byte_order_mark ? "\xEF\xBB\xBF" : "";
  const auto line = [&](std::vector<std::string> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      text += (i ? std::string(1, style.separator) : "") + (style.quotes ? '"' + fields[i] + '"' : fields[i]);
    text += end;
  };
  if (style.header) line({"Time", "Open", "High", "Low", "Close", "Volume"});
  for (std::size_t k = 0; k < bars.size(); ++k) {
    const std::size_t i = style.newest_first ? bars.size() - 1 - k : k;
    if (style.blank_lines && k % 3 == 0) text += k % 2 ? end : " \t" + end;
    const auto number = [&](std::int64_t price) { return number_text(price, style); };
    line({time_text(bars.ts_open[i], style.time), number(bars.open[i]), number(bars.high[i]), number(bars.low[i]),
          number(bars.close[i]), std::to_string(bars.volume[i])});
  }
  if (!style.last_line_ends) text.resize(text.size() - end.size());
  return text;
}

/// Minute bars with prices of any sign and number of decimals, now and then with a pause; no price is 0.
inline Bars random_bars(std::size_t rows, std::mt19937_64& random) {
  Bars bars;
  std::int64_t minute = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    std::int64_t prices[4];
    for (std::int64_t& price : prices) {
      std::int64_t unit = 1;
      for (std::uint64_t digits = random() % 10; digits > 0; --digits) unit *= 10;
      price = (static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000) * unit;
      if (price == 0) price = 1;
    }
    std::sort(prices, prices + 4);
    const bool up = random() % 2;
    append(bars, {monday + minute * ns_per_minute, prices[up ? 1 : 2], prices[3], prices[0], prices[up ? 2 : 1],
                  random() % 100'000, 0});
    minute += i > 0 && random() % 10 == 0 ? 61 : 1;
  }
  bars.interval = ns_per_minute;
  return bars;
}

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Bars of a file of this text; times are opens.
inline Bars read_csv_text(const std::string& text, ReadOptions options = {}, const char* name = "bars.csv") {
  const test::TemporaryFolder folder;
  write_text(folder / name, text);
  if (options.csv.stamp == "auto") options.csv.stamp = "open";
  return read_bars(folder / name, options);
}

/// Why a file of this text is refused, in one line that names the file.
inline std::string csv_refusal(const std::string& text, const ReadOptions& options = {}) {
  const test::TemporaryFolder folder;
  write_text(folder / "bars.csv", text);
  const std::string message = error_of(ExitCode::data, [&] { read_bars(folder / "bars.csv", options); });
  require_says(message, {(folder / "bars.csv").string()});
  return message;
}

}  // namespace foxhunt::market
