#include "core/alpha/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/alpha/labels.h"
#include "core/error.h"

namespace foxhunt::alpha {
namespace {

static_assert(sizeof(Mbp10Level) == sizeof(market::BookLevel) && undefined_price == market::no_price);

void check_options(const DatasetOptions& options) {
  const Horizons& horizons = options.horizons;
  const bool in_rows = horizons[0].rows != 0;
  bool right = true;
  std::string list;
  for (std::size_t h = 0; h < alpha_horizons; ++h) {
    right &= (in_rows ? horizons[h].nanoseconds : horizons[h].rows) == 0 && horizons[h].length() > 0;
    right &= h == 0 || horizons[h].length() > horizons[h - 1].length();
    list += (h ? ", " : "") + horizons[h].text();
  }
  if (!right)
    throw Error(ExitCode::usage,
                fmt::format("alpha.horizons must be {} numbers above 0, all in rows or all in time, each larger than "
                            "the one before; got {}",
                            alpha_horizons, list));
  if (options.steps < 1)
    throw Error(ExitCode::usage, fmt::format("alpha.steps must be 1 or more, got {}", options.steps));
}

void check_books(const market::Books& books) {
  if (books.levels != book_levels)
    throw Error(ExitCode::data,
                fmt::format("{}: its books ({}) have {} level{}, the alpha model reads {}; give it mbp-10 or mbo data",
                            books.source, books.schema, books.levels, books.levels == 1 ? "" : "s", book_levels));
  if (books.rows() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error(ExitCode::data, fmt::format("{}: {} books; a dataset takes {} at most, give it fewer", books.source,
                                            books.rows(), std::numeric_limits<std::int32_t>::max()));
  std::size_t two_sided = 0;
  for (std::size_t i = 0; i < books.rows(); ++i) two_sided += books.two_sided(i);
  if (two_sided < 2)
    throw Error(ExitCode::data, fmt::format("{}: {} of {} books have a bid and an ask; a label compares two of them",
                                            books.source, two_sided, books.rows()));
}

/// A tape that carries what sessions and splits are made of, and no prices.
market::Tape tape_of(const market::Books& books, const DatasetOptions& options) {
  market::Tape tape;
  tape.contract = options.contract;
  tape.bars.source = books.source;
  tape.bars.notes = books.notes;
  tape.bars.interval = 1;
  tape.ts.assign(books.ts_recv.begin(), books.ts_recv.end());
  tape.bars.ts_open = tape.ts;
  for (std::int64_t& open : tape.bars.ts_open) open -= tape.bars.interval;
  tape.instrument.assign(books.instrument.begin(), books.instrument.end());
  market::TapeOptions sessions;
  sessions.session_gap = options.session_gap;
  sessions.calendar = options.calendar;
  mark_sessions(tape, sessions);
  return tape;
}

Mbp10RawInput snapshot_of(const market::Books& books, std::size_t row) {
  Mbp10RawInput input{};
  std::memcpy(input.level, books.row(row), sizeof input.level);
  input.ts = books.ts_recv[row];
  input.trade_price = books.trade_price[row];
  input.buy_volume = books.buy_volume[row];
  input.sell_volume = books.sell_volume[row];
  return input;
}

void add_snapshots(Dataset& data, const market::Books& books) {
  data.input.reserve(books.rows());
  data.seconds.reserve(books.rows());
  data.twice_mid.reserve(books.rows());
  for (std::size_t i = 0; i < books.rows(); ++i) {
    Mbp10RawInput input = snapshot_of(books, i);
    input.first = i == 0 || data.session[i] != data.session[i - 1];
    if (!input.first) input.seconds = static_cast<float>(static_cast<double>(input.ts - data.input.back().ts) * 1e-9);
    data.input.push_back(input);
    data.seconds.push_back(input.seconds);
    // The reader keeps prices below largest_price: the sum of two fits.
    data.twice_mid.push_back(books.two_sided(i) ? input.level[0].bid + input.level[0].ask : Dataset::no_mid);
  }
}

/// All but labels and splits.
Dataset with_snapshots(const market::Books& books, const market::Tape& tape, const DatasetOptions& options) {
  Dataset data;
  data.session = tape.session;
  data.tick = options.contract.tick_size;
  data.horizons = options.horizons;
  data.source = books.source;
  data.instrument = options.contract.symbol;
  data.calendar = tape.calendar;
  data.rejects = books.rejects;
  data.notes = tape.bars.notes;
  add_snapshots(data, books);
  return data;
}

void check_windows(const Dataset& data, int steps) {
  const auto check = [&](const market::Split& split, const char* name) {
    std::int64_t longest = 0;
    for (const market::Split& range : session_ranges(data, split)) longest = std::max(longest, range.rows());
    if (longest < steps)
      throw Error(ExitCode::data,
                  fmt::format("{}: no window of {} rows fits into a session of the {} split, whose longest has {}; ask "
                              "for fewer (alpha.steps) or add data",
                              data.source, steps, name, longest));
  };
  check(data.splits.train, "train");
  check(data.splits.validation, "validation");
  check(data.splits.test, "test");
}

}  // namespace

std::string Horizon::text() const {
  if (rows) return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
  constexpr std::pair<std::int64_t, const char*> units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}};
  for (const auto& [ns, unit] : units)
    if (nanoseconds % ns == 0) return fmt::format("{} {}", nanoseconds / ns, unit);
  return fmt::format("{} ns", nanoseconds);
}

Dataset make_unlabelled_dataset(const market::Books& books, const DatasetOptions& options) {
  check_books(books);
  Dataset data = with_snapshots(books, tape_of(books, options), options);
  data.labels.assign(data.rows() * alpha_horizons, no_label);
  return data;
}

Dataset make_dataset(const market::Books& books, const DatasetOptions& options) {
  check_options(options);
  check_books(books);
  const market::Tape tape = tape_of(books, options);
  const market::Splits splits =
      make_splits(tape, options.train_fraction, options.validation_fraction, options.purge_rows, options.steps);
  Dataset data = with_snapshots(books, tape, options);
  data.splits = splits;
  check_windows(data, options.steps);
  make_labels(data, tape.ts);
  check_labels(data, tape.ts);
  return data;
}

}  // namespace foxhunt::alpha
