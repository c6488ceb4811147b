#include "core/market/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/market/bar_collector.h"
#include "core/market/civil_time.h"
#include "core/market/column.h"
#include "core/market/csv_columns.h"
#include "core/market/csv_instruments.h"
#include "core/market/csv_numbers.h"
#include "core/market/csv_rows.h"
#include "core/market/csv_stamp.h"
#include "core/market/csv_times.h"
#include "core/market/dbn_format.h"

namespace foxhunt::market {
namespace {

class BarParser {
 public:
  BarParser(const std::filesystem::path& file, const ReadOptions& options)
      : options_(options), rows_(file, options), times_(options.csv) {}

  Bars read() {
    read_head();
    while (rows_.next())
      if (!add_row()) break;
    if (bars_.empty()) rows_.fail("no row of data after the header; bars are needed");
    if (newest_first()) reverse();
    resolve_times();
    return finish(collect());
  }

 private:
  void read_head() {
    if (!rows_.next()) rows_.fail("no line of text; expected bars");
    columns_ = bar_columns(rows_, options_.csv);
    numbers_ = CsvNumbers(options_.csv.decimal == "comma", columns_.fixed_point);
    instruments_.emplace(columns_.instrument_id, columns_.symbol);
    rows_.expect_fields(rows_.fields().size());
    if (!columns_.header) add_row();
  }

  /// False when the row is the cut end of a file whose start is to be kept.
  bool add_row() {
    try {
      const Bar bar = parse_row();
      for (const int column : columns_.features) extra_.push_back(number(column));
      bars_.push_back(bar);
      return true;
    } catch (const Error&) {
      if (!rows_.may_be_cut()) throw;
      rows_.drop_cut_row();
      extra_.truncate(bars_.size() * columns_.features.size());
      return false;
    }
  }

  Bar parse_row() {
    Bar bar;
    bar.ts_open = time();
    bar.open = price(columns_.open, "open");
    bar.high = price(columns_.high, "high");
    bar.low = price(columns_.low, "low");
    bar.close = price(columns_.close, "close");
    if (columns_.volume >= 0 && !numbers_.count(rows_.field(columns_.volume), bar.volume))
      refuse(fmt::format("volume {} is not a number of 0 or more", quoted_field(rows_.field(columns_.volume))));
    bar.instrument = instruments_->of(rows_);
    return bar;
  }

  std::int64_t time() {
    std::string_view text = rows_.field(columns_.time);
    if (columns_.clock >= 0) {
      date_and_clock_.assign(text).append(" ").append(rows_.field(columns_.clock));
      text = date_and_clock_;
    }
    const auto ns = times_.read(text);
    if (!ns) rows_.fail(fmt::format("time {} cannot be read; expected {}", quoted_field(text), times_.expected()));
    return *ns;
  }

  std::int64_t price(int column, const char* name) {
    std::int64_t value = 0;
    const std::string_view text = rows_.field(column);
    if (!numbers_.price(text, value)) {
      const bool comma = options_.csv.decimal == "point" && text.find(',') != std::string_view::npos;
      refuse(fmt::format("{} price {} is not a number in range{}", name, quoted_field(text),
                         comma ? " (data.csv_decimal = \"comma\" reads it)" : ""));
    }
    return value;
  }

  double number(int column) {
    double value = 0;
    if (!numbers_.number(rows_.field(column), value))
      refuse(fmt::format("{} is not a number up to 1e100", quoted_field(rows_.field(column))));
    return value;
  }

  /// Most steps from row to row go back in time.
  bool newest_first() const {
    std::int64_t back = 0;
    for (std::size_t i = 1; i < bars_.size(); ++i)
      back += (bars_[i].ts_open < bars_[i - 1].ts_open) - (bars_[i].ts_open > bars_[i - 1].ts_open);
    return back > 0;
  }

  void reverse() {
    std::reverse(bars_.begin(), bars_.end());
    std::reverse(extra_.begin(), extra_.end());  // the values of each row as well: see collect()
    reversed_ = true;
  }

  void resolve_times() {
    if (!times_.local()) return;
    std::map<std::uint32_t, std::int64_t> after_last;  // of an instrument
    for (Bar& bar : bars_) {
      if (bar.ts_open == CsvTimes::undefined) continue;
      std::int64_t& earliest = after_last.try_emplace(bar.instrument, INT64_MIN).first->second;
      bar.ts_open = times_.resolve(bar.ts_open, earliest);
      if (bar.ts_open == CsvTimes::undefined)
        bar.ts_open = skipped_;
      else
        earliest = bar.ts_open + 1;
    }
  }

  BarCollector collect() {
    const std::size_t width = columns_.features.size();
    std::vector<double> values(width);
    BarCollector collector(options_.csv.features);
    collector.reserve(bars_.size());
    for (std::size_t i = 0; i < bars_.size(); ++i) {
      std::copy_n(extra_.begin() + i * width, width, values.begin());
      if (reversed_) std::reverse(values.begin(), values.end());
      if (bars_[i].ts_open == CsvTimes::undefined)
        collector.reject("undefined time");
      else if (bars_[i].ts_open == skipped_)
        collector.reject("time that the clock skipped when it was set forward");
      else
        collector.add(bars_[i], values.data());
    }
    return collector;
  }

  Bars finish(BarCollector collector) {
    constexpr std::int64_t longest_interval = 366 * ns_per_day;
    Bars result = std::move(collector).finish(0, {options_.instrument, instruments_->symbols(), rows_.name()});
    if (result.interval == 0)
      throw Error(ExitCode::data,
                  fmt::format("{}: {} usable rows of {}; two of one instrument are needed to tell the bars' interval",
                              rows_.name(), result.size(), bars_.size()));
    if (result.interval > longest_interval)
      throw Error(ExitCode::data, fmt::format("{}: most bars lie {} days apart, expected a year at most; are the times "
                                              "in another format (data.csv_time_format)?",
                                              rows_.name(), result.interval / ns_per_day));
    const std::uint16_t schema = dbn::bar_schema(result.interval);
    result.schema = schema ? dbn::schema_name(schema) : fmt::format("ohlcv-{}s", result.interval / ns_per_second);
    result.symbols = instruments_->symbols();
    result.source = rows_.name();
    result.notes = notes();
    stamp(result);
    return result;
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    if (!columns_.header)
      notes.push_back(fmt::format("no header: columns taken as {}time, open, high, low, close{}",
                                  columns_.clock >= 0 ? "date, " : "", columns_.volume >= 0 ? ", volume" : ""));
    if (!rows_.damage().empty())
      notes.push_back(fmt::format("{}; kept the {} rows before it", rows_.damage(), bars_.size()));
    for (std::string& note : times_.notes()) notes.push_back(std::move(note));
    if (numbers_.any_grouped())
      notes.push_back(fmt::format("marks between thousands left out of numbers such as {} (data.csv_decimal)",
                                  options_.csv.decimal == "comma" ? "1.234" : "1,234"));
    return notes;
  }

  /// Turns times into those at which bars open.
  void stamp(Bars& bars) const {
    bool close = options_.csv.stamp == "close" || columns_.time_name.starts_with("close");
    const bool known = columns_.time_name == "ts_event" || columns_.time_name.starts_with("open");
    if (options_.csv.stamp == "auto" && !close && !known) {
      const StampGuess guess = guess_stamp(bars);
      close = guess.close;
      bars.notes.push_back(fmt::format("times taken as those at which bars {}: {} (data.csv_stamp)",
                                       close ? "close" : "open", guess.reason));
    }
    if (options_.csv.stamp == "open") close = false;
    if (close)
      for (std::int64_t& ts : bars.ts_open) ts -= bars.interval;
  }

  [[noreturn]] void refuse(const std::string& what) const { rows_.fail(what + "; correct or remove the line"); }

  static constexpr std::int64_t skipped_ = CsvTimes::undefined - 1;

  const ReadOptions& options_;
  CsvRows rows_;
  CsvTimes times_;
  CsvColumns columns_;
  CsvNumbers numbers_;
  std::optional<CsvInstruments> instruments_;
  Column<Bar> bars_;      ///< in file order; ts_open is the time as it stands there
  Column<double> extra_;  ///< [rows, features]
  bool reversed_ = false;
  std::string date_and_clock_;
};

}  // namespace

Bars read_csv_bars(const std::filesystem::path& file, const ReadOptions& options) {
  return BarParser(file, options).read();
}

}  // namespace foxhunt::market
