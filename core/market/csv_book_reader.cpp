#include "core/market/csv_book_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "core/error.h"
#include "core/market/book_collector.h"
#include "core/market/civil_time.h"
#include "core/market/csv_columns.h"
#include "core/market/csv_instruments.h"
#include "core/market/csv_numbers.h"
#include "core/market/csv_rows.h"
#include "core/market/csv_times.h"

namespace foxhunt::market {
namespace {

constexpr std::size_t most_levels = 10;

struct LevelColumns {
  int bid = -1, ask = -1, bid_size = -1, ask_size = -1, bid_count = -1, ask_count = -1;
};

struct BookColumns {
  int ts_recv = -1, ts_event = -1;
  int action = -1, side = -1, price = -1, size = -1;
  int instrument_id = -1, symbol = -1;
  std::array<LevelColumns, most_levels> level;
  std::size_t levels = 0;  ///< with columns, from the best on
  bool fixed_point = false;
};

LevelColumns best_columns(const std::vector<std::string>& header) {
  return {first_column(header, {"bid_px_00", "bid_px", "bid_price", "bid"}),
          first_column(header, {"ask_px_00", "ask_px", "ask_price", "ask"}),
          first_column(header, {"bid_sz_00", "bid_sz", "bid_size", "bid_qty", "bidvolume", "bid_volume"}),
          first_column(header, {"ask_sz_00", "ask_sz", "ask_size", "ask_qty", "askvolume", "ask_volume"}),
          first_column(header, {"bid_ct_00"}),
          first_column(header, {"ask_ct_00"})};
}

LevelColumns deep_columns(const std::vector<std::string>& header, std::size_t level) {
  const auto at = [&](const char* name) { return first_column(header, {fmt::format("{}_{:02}", name, level)}); };
  return {at("bid_px"), at("ask_px"), at("bid_sz"), at("ask_sz"), at("bid_ct"), at("ask_ct")};
}

/// Nothing when the header names no best bid and ask.
std::optional<BookColumns> book_columns(const CsvRows& rows, const CsvOptions& options) {
  const auto header = header_names(rows);
  BookColumns columns;
  for (; columns.levels < most_levels; ++columns.levels) {
    const LevelColumns level = columns.levels == 0 ? best_columns(header) : deep_columns(header, columns.levels);
    if (level.bid < 0 || level.ask < 0) break;
    columns.level[columns.levels] = level;
  }
  if (columns.levels == 0) return std::nullopt;
  columns.ts_event = first_column(header, {"ts_event"});
  columns.ts_recv = options.time_column.empty()
                        ? first_column(header, {"ts_recv", "ts_event", "timestamp", "timestamp_utc", "datetime",
                                                "date_time", "date time", "gmt time", "local time", "time", "date"})
                        : find_column(rows, options, options.time_column, "data.csv_time_column");
  columns.action = first_column(header, {"action"}), columns.side = first_column(header, {"side"});
  columns.price = first_column(header, {"price"}), columns.size = first_column(header, {"size"});
  columns.instrument_id = first_column(header, {"instrument_id"}),
  columns.symbol = first_column(header, {"symbol", "ticker"});
  columns.fixed_point = first_column(header, {"rtype"}) >= 0 && first_column(header, {"publisher_id"}) >= 0;
  if (columns.ts_recv < 0)
    rows.fail("the header names bid and ask but no time; expected ts_recv, or name it by data.csv_time_column");
  return columns;
}

class BookParser {
 public:
  BookParser(const std::filesystem::path& file, const ReadOptions& options)
      : options_(options), rows_(file, options), recv_times_(options.csv), event_times_(options.csv) {
    if (!rows_.next()) rows_.fail("no line of text; expected snapshots of a book");
    const auto columns = book_columns(rows_, options.csv);
    if (!columns) rows_.fail("no column for the best bid or ask; expected bid_px_00 and ask_px_00, or bid and ask");
    columns_ = *columns;
    rows_.expect_fields(rows_.fields().size());
    numbers_ = CsvNumbers(options.csv.decimal == "comma", columns_.fixed_point);
    instruments_.emplace(columns_.instrument_id, columns_.symbol);
    books_.emplace(columns_.levels == 1 ? 1 : int{most_levels}, options.instrument, instruments_->symbols());
  }

  Books read() {
    while (rows_.next()) {
      try {
        add_row();
      } catch (const Error&) {
        if (!rows_.may_be_cut()) throw;
        rows_.drop_cut_row();
        break;
      }
    }
    books_->check_found(rows_.name());
    if (books_->rows() == 0 && !options_.may_be_empty) fail_empty();
    Books result = std::move(*books_).finish();
    result.schema = columns_.levels == 1 ? "mbp-1" : "mbp-10";
    result.source = rows_.name();
    result.notes = notes(result.rows());
    return result;
  }

 private:
  void add_row() {
    const std::uint32_t id = instruments_->of(rows_);
    BookCollector::Instrument& instrument = books_->of(id);
    if (!instrument.wanted) return books_->skip_unwanted();
    const std::uint64_t ts_recv = time(columns_.ts_recv, recv_times_, instrument.last_recv);
    // An event is not half an hour older than its row.
    const std::uint64_t ts_event =
        columns_.ts_event < 0 || columns_.ts_event == columns_.ts_recv
            ? ts_recv
            : time(columns_.ts_event, event_times_, static_cast<std::int64_t>(ts_recv) - 30 * ns_per_minute);
    std::array<BookLevel, most_levels> levels;
    for (std::size_t i = 0; i < columns_.levels; ++i) levels[i] = level(columns_.level[i]);
    if (is_trade()) books_->add_trade(instrument, price(columns_.price), count(columns_.size), side());
    books_->add(instrument, id, ts_event, ts_recv, reinterpret_cast<const char*>(levels.data()));
  }

  bool is_trade() const {
    return columns_.action >= 0 && columns_.price >= 0 && columns_.size >= 0 && rows_.field(columns_.action) == "T";
  }
  char side() const {
    const std::string_view text = columns_.side >= 0 ? rows_.field(columns_.side) : std::string_view{};
    return text.empty() ? 'N' : text[0];
  }

  /// UTC; what BookCollector takes for undefined where there is none.
  std::uint64_t time(int column, CsvTimes& times, std::int64_t earliest) {
    const std::string_view text = rows_.field(column);
    auto ns = times.read(text);
    if (!ns) rows_.fail(fmt::format("time {} cannot be read; expected {}", quoted_field(text), times.expected()));
    if (times.local() && *ns != CsvTimes::undefined) ns = times.resolve(*ns, earliest);
    return static_cast<std::uint64_t>(*ns);
  }

  BookLevel level(const LevelColumns& at) {
    BookLevel level;
    level.bid = price(at.bid), level.ask = price(at.ask);
    level.bid_size = at.bid_size < 0 ? 1 : count(at.bid_size);
    level.ask_size = at.ask_size < 0 ? 1 : count(at.ask_size);
    if (at.bid_count >= 0) level.bid_count = count(at.bid_count);
    if (at.ask_count >= 0) level.ask_count = count(at.ask_count);
    return level;
  }

  std::int64_t price(int column) {
    std::int64_t value = 0;
    if (!numbers_.price(rows_.field(column), value)) refuse(column, "a price in range");
    return value;
  }

  std::uint32_t count(int column) {
    std::uint64_t value = 0;
    if (!numbers_.count(rows_.field(column), value)) refuse(column, "a number of 0 or more");
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, UINT32_MAX));
  }

  std::vector<std::string> notes(std::size_t rows) const {
    std::vector<std::string> notes;
    if (!rows_.damage().empty()) notes.push_back(fmt::format("{}; kept the {} rows before it", rows_.damage(), rows));
    for (std::string& note : recv_times_.notes()) notes.push_back(std::move(note));
    if (columns_.level[0].bid_size < 0 || columns_.level[0].ask_size < 0)
      notes.push_back("no column for the sizes of best bid and ask: taken as 1");
    return notes;
  }

  [[noreturn]] void refuse(int column, const char* expected) const {
    rows_.fail(fmt::format("column {}: {} is not {}; correct or remove the line", column + 1,
                           quoted_field(rows_.field(column)), expected));
  }
  [[noreturn]] void fail_empty() const {
    std::string reasons;
    for (const auto& [reason, rows] : books_->rejects())
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", rows, reason);
    throw Error(ExitCode::data, fmt::format("{}: no usable row of a book ({}); snapshots are needed, oldest first",
                                            rows_.name(), reasons.empty() ? "no row of data" : reasons));
  }

  const ReadOptions& options_;
  CsvRows rows_;
  CsvTimes recv_times_, event_times_;
  BookColumns columns_;
  CsvNumbers numbers_;
  std::optional<CsvInstruments> instruments_;
  std::optional<BookCollector> books_;
};

}  // namespace

bool is_csv_book(const std::filesystem::path& file, const ReadOptions& options) {
  ReadOptions quiet = options;
  quiet.progress = nullptr;
  CsvRows rows(file, quiet);
  if (!rows.next()) return false;
  const auto header = header_names(rows);
  const LevelColumns best = best_columns(header);
  return best.bid >= 0 && best.ask >= 0;
}

Books read_csv_books(const std::filesystem::path& file, const ReadOptions& options) {
  return BookParser(file, options).read();
}

}  // namespace foxhunt::market
