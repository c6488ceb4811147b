#include "core/market/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "core/error.h"
#include "core/market/bar_collector.h"
#include "core/market/byte_source.h"
#include "core/market/civil_time.h"
#include "core/market/csv_columns.h"
#include "core/market/dbn_format.h"
#include "core/market/decimal.h"
#include "core/market/time_text.h"

namespace foxhunt::market {
namespace {

/// Lines of a file, without their ends.
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& file) : source_(file), buffer_(1 << 18) {}

  bool next(std::string_view& line) {
    for (;;) {
      const std::string_view rest(buffer_.data() + at_, filled_ - at_);
      const std::size_t end = rest.find('\n');
      if (end != std::string_view::npos) return take(rest.substr(0, end), end + 1, line);
      if (rest.size() == buffer_.size())
        throw Error(ExitCode::data, fmt::format("{}: line {} is longer than {} bytes; this is no CSV file of bars",
                                                source_.file().string(), number_ + 1, buffer_.size()));
      if (!refill()) return !rest.empty() && take(rest, rest.size(), line);
    }
  }
  std::int64_t number() const { return number_; }

 private:
  bool take(std::string_view content, std::size_t size, std::string_view& line) {
    at_ += size;
    if (++number_ == 1 && content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
    line = content;
    return true;
  }
  bool refill() {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(at_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= at_;
    at_ = 0;
    const std::size_t got = source_.read(buffer_.data() + filled_, buffer_.size() - filled_);
    filled_ += got;
    return got > 0;
  }

  ByteSource source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::int64_t number_ = 0;
};

/// A field as an error shows it: short, and printable whatever the file holds.
std::string quoted(std::string_view field) {
  constexpr std::size_t most = 60;
  std::string text;
  for (const char c : field.substr(0, most)) text += c >= ' ' && c <= '~' ? c : '?';
  return "'" + text + (field.size() > most ? "..." : "") + "'";
}

class CsvParser {
 public:
  explicit CsvParser(const std::filesystem::path& file) : file_(file.string()), lines_(file) {}

  Bars read(bool time_is_close) {
    read_head();
    while (next_row()) rows_.push_back(parse_row());
    if (rows_.empty()) fail("no row of data after the header; bars are needed");
    if (newest_first()) std::reverse(rows_.begin(), rows_.end());
    BarCollector bars;
    for (const Bar& row : rows_) bars.add(row);
    return finish(std::move(bars), time_is_close);
  }

 private:
  bool next_row() {
    std::string_view line;
    while (lines_.next(line)) {
      if (line.find_first_not_of(" \t\r") == std::string_view::npos || line[0] == '#') continue;
      if (!separator_) separator_ = separator_of(line);
      split_csv_line(line, separator_, fields_);
      return true;
    }
    return false;
  }

  void read_head() {
    if (!next_row()) fail("no line of text; expected bars");
    if (fields_[0].starts_with("\x1F\x8B")) fail("gzip-compressed; unpack it first: gunzip -k " + file_);
    if (const auto by_order = columns_by_order(fields_)) {
      columns_ = *by_order;
      rows_.push_back(parse_row());
    } else if (const auto by_name = columns_by_name(fields_)) {
      columns_ = *by_name;
    } else {
      fail(fmt::format(
          "starts with {}; expected a header that names time, open, high, low and close, or rows of time, open, "
          "high, low, close, volume",
          quoted(fields_[0])));
    }
  }

  Bar parse_row() {
    if (fields_.size() != columns_.count)
      fail(fmt::format("{} fields, expected {}; correct or remove the line", fields_.size(), columns_.count));
    Bar bar;
    bar.ts_open = time(field(columns_.time));
    bar.open = price(field(columns_.open), "open");
    bar.high = price(field(columns_.high), "high");
    bar.low = price(field(columns_.low), "low");
    bar.close = price(field(columns_.close), "close");
    if (columns_.volume >= 0) bar.volume = volume(field(columns_.volume));
    bar.instrument = instrument();
    return bar;
  }

  /// Most steps from row to row go back in time.
  bool newest_first() const {
    std::int64_t back = 0;
    for (std::size_t i = 1; i < rows_.size(); ++i)
      back += (rows_[i].ts_open < rows_[i - 1].ts_open) - (rows_[i].ts_open > rows_[i - 1].ts_open);
    return back > 0;
  }

  std::string_view field(int column) const { return fields_[static_cast<std::size_t>(column)]; }

  std::int64_t time(std::string_view text) {
    if (!time_format_) time_format_ = time_format_of(text);
    const auto ns = time_format_ ? parse_time(text, *time_format_) : std::nullopt;
    if (!ns)
      fail(fmt::format("time {} cannot be read; expected ISO 8601, dd.mm.yyyy hh:mm:ss or a Unix time{}", quoted(text),
                       rows_.empty() ? "" : ", in the format of the rows before"));
    return *ns;
  }

  std::int64_t price(std::string_view text, const char* name) {
    std::int64_t value = 0;
    if (text.empty() || text == "nan" || text == "NaN" || text == "null") return dbn::undefined_price;
    if (columns_.fixed_point && text.find('.') == std::string_view::npos) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc{} && end == text.data() + text.size()) return value;
    } else if (parse_price(text, value)) {
      return value;
    }
    fail(fmt::format("{} price {} is not a number in range; correct or remove the line", name, quoted(text)));
  }

  /// Whole lots; a fraction (some vendors scale volumes) is rounded.
  std::uint64_t volume(std::string_view text) {
    if (text.empty() || text == "nan" || text == "NaN") return 0;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value < 1e18))
      fail(fmt::format("volume {} is not a number of 0 or more; correct or remove the line", quoted(text)));
    return static_cast<std::uint64_t>(value + 0.5);
  }

  std::uint32_t instrument() {
    std::uint32_t id = 0;
    const std::string name(columns_.symbol >= 0 ? field(columns_.symbol) : std::string_view{});
    if (columns_.instrument_id >= 0) {
      const std::string_view text = field(columns_.instrument_id);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
      if (error != std::errc{} || end != text.data() + text.size())
        fail(fmt::format("instrument_id {} is not a whole number; correct or remove the line", quoted(text)));
    } else if (!name.empty()) {
      id = ids_.try_emplace(name, static_cast<std::uint32_t>(ids_.size() + 1)).first->second;
    }
    if (!name.empty()) symbols_.try_emplace(id, name);
    return id;
  }

  Bars finish(BarCollector bars, bool time_is_close) {
    Bars result = std::move(bars).finish(0);
    if (result.interval == 0)
      throw Error(ExitCode::data,
                  fmt::format("{}: {} usable rows of {}; two of one instrument are needed to tell the bars' "
                              "interval",
                              file_, result.size(), rows_.size()));
    if (time_is_close)
      for (std::int64_t& ts : result.ts_open) ts -= result.interval;
    const std::uint16_t schema = dbn::bar_schema(result.interval);
    result.schema = schema ? dbn::schema_name(schema) : fmt::format("ohlcv-{}s", result.interval / ns_per_second);
    result.symbols = std::move(symbols_);
    result.source = file_;
    return result;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::data, fmt::format("{}: line {}: {}", file_, lines_.number(), what));
  }

  const std::string file_;
  LineReader lines_;
  char separator_ = 0;
  CsvColumns columns_;
  std::vector<std::string_view> fields_;
  std::optional<TimeFormat> time_format_;
  std::vector<Bar> rows_;
  std::map<std::string, std::uint32_t> ids_;
  std::map<std::uint32_t, std::string> symbols_;
};

}  // namespace

Bars read_csv_bars(const std::filesystem::path& file, bool time_is_close) {
  return CsvParser(file).read(time_is_close);
}

}  // namespace foxhunt::market
