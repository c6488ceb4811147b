#include "core/alpha/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>

#include "core/alpha/labels.h"
#include "core/market/reader.h"
#include "tests/alpha/books_fixture.h"

namespace foxhunt::alpha {
namespace {

const Horizons row_horizons = in_rows({1, 2, 5, 13, 40});
const Horizons time_horizons = in_time({100 * ms, 500 * ms, second, 2 * second, 5 * second});

const market::Split& split_of(const Dataset& data, std::int64_t row) {
  static const market::Split none;
  for (const market::Split* split : {&data.splits.train, &data.splits.validation, &data.splits.test})
    if (row >= split->begin && row < split->end) return *split;
  return none;
}

/// Last row of row i's split and session.
std::size_t last_row(const Dataset& data, std::size_t i) {
  std::size_t last = i;
  const auto end = static_cast<std::size_t>(split_of(data, static_cast<std::int64_t>(i)).end);
  while (last + 1 < end && data.session[last + 1] == data.session[i]) ++last;
  return last;
}

/// The row that a label looks at, from its definition; -1: none.
std::int64_t target_of(const Dataset& data, std::size_t i, const Horizon& horizon) {
  const std::size_t last = last_row(data, i);
  if (horizon.rows) {
    const std::size_t target = i + static_cast<std::size_t>(horizon.rows);
    return target <= last ? static_cast<std::int64_t>(target) : -1;
  }
  const std::int64_t until = data.input[i].ts + horizon.nanoseconds;
  if (data.input[last].ts < until) return -1;
  std::size_t target = i;
  for (std::size_t j = i; j <= last; ++j)
    if (data.input[j].ts <= until) target = j;
  return static_cast<std::int64_t>(target);
}

std::uint8_t expected_label(const Dataset& data, std::size_t i, std::size_t h) {
  if (split_of(data, static_cast<std::int64_t>(i)).rows() == 0) return no_label;
  const std::int64_t target = target_of(data, i, data.horizons[h]);
  if (target < 0) return no_label;
  const Mbp10Level &now = data.input[i].level[0], &then = data.input[static_cast<std::size_t>(target)].level[0];
  if (now.ask == undefined_price || then.ask == undefined_price) return no_label;
  const std::int64_t change = then.bid - now.bid;  // in this fixture the spread is a tick throughout
  return change == 0 ? no_label : change > 0 ? 1 : 0;
}

bool same_input(const Mbp10RawInput& a, const Mbp10RawInput& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::int64_t windows_that_cross(const Dataset& data, const std::vector<std::int32_t>& starts,
                                const market::Split& split, int steps) {
  return std::count_if(starts.begin(), starts.end(), [&](std::int32_t start) {
    const auto first = static_cast<std::size_t>(start), last = first + static_cast<std::size_t>(steps) - 1;
    return start < split.begin || start + steps > split.end || data.session[first] != data.session[last];
  });
}

}  // namespace

TEST_CASE("dataset: a row is the book's, with the time since the row before in its session") {
  std::mt19937_64 random(test::seed());
  const market::Books books = random_books(random, 3000);
  const Dataset data = make_dataset(books, options_of(row_horizons));
  REQUIRE(data.rows() == books.rows());
  REQUIRE(data.tick == 2 * half_tick);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const Mbp10RawInput& row = data.input[i];
    const bool first = i == 0 || books.instrument[i] != books.instrument[i - 1] ||
                       books.ts_recv[i] - 1 - books.ts_recv[i - 1] > 60 * second;
    const double seconds = first ? 0 : static_cast<double>(books.ts_recv[i] - books.ts_recv[i - 1]) * 1e-9;
    wrong += std::memcmp(row.level, books.row(i), sizeof row.level) != 0;
    wrong += row.ts != books.ts_recv[i] || row.trade_price != books.trade_price[i];
    wrong += row.buy_volume != books.buy_volume[i] || row.sell_volume != books.sell_volume[i];
    wrong += row.first != static_cast<std::uint32_t>(first) || row.seconds != data.seconds[i];
    wrong += !(std::abs(row.seconds - seconds) < 1e-5);
    wrong += (i > 0) && (data.session[i] - data.session[i - 1] != static_cast<std::int32_t>(first));
    wrong += (data.twice_mid[i] == Dataset::no_mid) == books.two_sided(i);
  }
  REQUIRE(wrong == 0);
  REQUIRE(data.sessions() > 10);
}

TEST_CASE("dataset: labels compare the mid with the one in force a horizon later, within session and split") {
  for (std::uint64_t round = 0; round < 6; ++round) {
    std::mt19937_64 random(test::seed() + round);
    for (const Horizons& horizons : {row_horizons, time_horizons}) {
      DatasetOptions options = options_of(horizons);
      options.purge_rows = round % 2 ? 37 : 0;
      const Dataset data = make_dataset(random_books(random, 4000), options);
      REQUIRE(data.splits.validation.begin - data.splits.train.end == options.purge_rows);
      std::size_t wrong = 0, labelled = 0;
      for (std::size_t i = 0; i < data.rows(); ++i)
        for (std::size_t h = 0; h < alpha_horizons; ++h) {
          wrong += data.labels[i * alpha_horizons + h] != expected_label(data, i, h);
          labelled += data.labels[i * alpha_horizons + h] != no_label;
        }
      INFO("seed " << test::seed() + round << " horizon " << horizons[0].text());
      REQUIRE(wrong == 0);
      REQUIRE(labelled > data.rows());
    }
  }
}

TEST_CASE("dataset: rows at one time, and a quiet market, have the mid in force") {
  // Times in 100 ms, mids in half ticks. The last row of a time counts; between rows the mid stays.
  const std::pair<int, int> rows[] = {{0, 0}, {1, 4}, {1, 2}, {1, 6}, {9, 1}, {10, 3}, {20, 5}};
  Dataset data;
  data.horizons = in_time({100 * ms, 200 * ms, 300 * ms, 900 * ms, second});
  data.splits.train = {0, 7};
  std::vector<std::int64_t> ts;
  for (const auto& [at, mid] : rows) {
    ts.push_back(monday_noon + at * 100 * ms);
    data.input.emplace_back(), data.session.push_back(0), data.twice_mid.push_back(mid);
  }
  make_labels(data, ts);
  const auto label = [&](std::size_t row, std::size_t h) { return int{data.labels[row * alpha_horizons + h]}; };
  CHECK(label(0, 0) == 1);         // 0 -> 6, the last of the three at 100 ms
  CHECK(label(1, 0) == 1);         // 4 -> 6
  CHECK(label(2, 2) == 1);         // 2 -> 6
  CHECK(label(3, 0) == no_label);  // 6 -> 6: nothing happened
  CHECK(label(3, 4) == 0);         // 6 -> 3 at 1.1 s
  CHECK(label(0, 3) == 1);         // 0 -> 1 at exactly 0.9 s
  CHECK(label(0, 4) == 1);         // 0 -> 3
  CHECK(label(5, 4) == 1);         // 3 -> 5 at exactly the last row
  CHECK(label(6, 0) == no_label);  // nothing later
  CHECK(data.balance.train[0].tied == 2);
  CHECK(data.balance.train[0].unlabelled == 1);
  CHECK(data.label_rows[0] == Approx(7.0 / 6));  // 3, 2, 1, 0, 1, 0, and none of the last row
}

TEST_CASE("dataset: the counts of a split add up to its rows") {
  std::mt19937_64 random(test::seed());
  const Dataset data = make_dataset(random_books(random, 5000), options_of(time_horizons));
  std::int64_t all = 0;
  for (const auto& [split, counts] :
       {std::pair(data.splits.train, data.balance.train), std::pair(data.splits.validation, data.balance.validation),
        std::pair(data.splits.test, data.balance.test)}) {
    all += split.rows();
    for (std::size_t h = 0; h < alpha_horizons; ++h) {
      REQUIRE(counts[h].labelled() + counts[h].tied + counts[h].unlabelled == split.rows());
      std::int64_t up = 0;
      for (std::int64_t row = split.begin; row < split.end; ++row)
        up += data.labels[static_cast<std::size_t>(row) * alpha_horizons + h] == 1;
      REQUIRE(counts[h].up == up);
    }
  }
  REQUIRE(all == 5000);
  REQUIRE(balance_lines(data).size() == 16);
  REQUIRE(std::is_sorted(data.label_rows.begin(), data.label_rows.end()));
}

TEST_CASE("dataset: what comes later changes no row before it, and no label that it does not reach") {
  std::size_t later_labels_moved = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::mt19937_64 random(test::seed() + round);
    const market::Books books = random_books(random, 3000);
    market::Books other = books;
    const std::size_t from = 100 + random() % 2800;
    for (std::size_t i = from; i < other.rows(); ++i) {
      for (int l = 0; l < book_levels; ++l) {
        market::BookLevel& level = other.level[i * book_levels + static_cast<std::size_t>(l)];
        level.bid += static_cast<std::int64_t>(i % 9) * 2 * half_tick, level.bid_size += 3;
        if (level.has_ask()) level.ask += static_cast<std::int64_t>(i % 9) * 2 * half_tick;
      }
      other.buy_volume[i] += 5, other.trade_price[i] += half_tick;
    }
    for (const Horizons& horizons : {row_horizons, time_horizons}) {
      const Dataset a = make_dataset(books, options_of(horizons)), b = make_dataset(other, options_of(horizons));
      std::size_t moved = 0, labels_moved = 0;
      for (std::size_t i = 0; i < from; ++i) {
        moved += !same_input(a.input[i], b.input[i]) || a.seconds[i] != b.seconds[i] || a.session[i] != b.session[i];
        for (std::size_t h = 0; h < alpha_horizons; ++h) {
          const bool reaches = target_of(a, i, horizons[h]) >= static_cast<std::int64_t>(from);
          const bool differs = a.labels[i * alpha_horizons + h] != b.labels[i * alpha_horizons + h];
          (reaches ? later_labels_moved : labels_moved) += differs;
        }
      }
      INFO("seed " << test::seed() + round << " from row " << from);
      CHECK(moved == 0);
      CHECK(labels_moved == 0);
    }
  }
  REQUIRE(later_labels_moved > 0);
}

TEST_CASE("dataset: windows lie within their split and one session, and none is left out") {
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::mt19937_64 random(test::seed() + round);
    const int steps = static_cast<int>(1 + random() % 30);
    const Dataset data = make_dataset(random_books(random, 3000), options_of(row_horizons, steps));
    for (const market::Split& split : {data.splits.train, data.splits.validation, data.splits.test}) {
      INFO("seed " << test::seed() + round << " steps " << steps);
      const auto all = window_starts(data, split, steps);
      REQUIRE(windows_that_cross(data, all, split, steps) == 0);
      std::size_t fitting = 0;
      for (std::int64_t row = split.begin; row + steps <= split.end; ++row)
        fitting +=
            data.session[static_cast<std::size_t>(row)] == data.session[static_cast<std::size_t>(row) + steps - 1];
      REQUIRE(all.size() == fitting);
      const auto apart = window_starts(data, split, steps, steps);
      REQUIRE(windows_that_cross(data, apart, split, steps) == 0);
      std::size_t whole = 0;
      std::int64_t rows = 0;
      for (const market::Split& range : session_ranges(data, split)) {
        whole += static_cast<std::size_t>(range.rows() / steps), rows += range.rows();
        REQUIRE(range.rows() > 0);
      }
      REQUIRE(apart.size() == whole);
      REQUIRE(rows == split.rows());
      for (std::size_t k = 1; k < apart.size(); ++k) REQUIRE(apart[k] - apart[k - 1] >= steps);
    }
  }
}

TEST_CASE("dataset: a cut inside a session leaves no label that looks over it") {
  std::mt19937_64 random(test::seed());
  market::Books books;
  for (int i = 0; i < 2000; ++i) add_book(books, monday_noon + i * 100 * ms, static_cast<std::int64_t>(random() % 9));
  for (const Horizons& horizons :
       {in_rows({1, 2, 5, 20, 90}), in_time({100 * ms, 200 * ms, 500 * ms, 2 * second, 9 * second})}) {
    const Dataset data = make_dataset(books, options_of(horizons));
    REQUIRE(data.sessions() == 1);
    for (const std::int64_t end : {data.splits.train.end, data.splits.validation.end, data.splits.test.end})
      for (std::size_t h = 0; h < alpha_horizons; ++h) {
        const std::int64_t reach = horizons[h].rows ? horizons[h].rows : horizons[h].nanoseconds / (100 * ms);
        std::int64_t labelled = 0;
        for (std::int64_t row = end - reach; row < end; ++row)
          labelled += data.labels[static_cast<std::size_t>(row) * alpha_horizons + h] != no_label;
        REQUIRE(labelled == 0);
      }
  }
}

TEST_CASE("dataset: what cannot be learned from is refused in one line") {
  std::mt19937_64 random(test::seed());
  const market::Books books = random_books(random, 2000);
  const auto refused = [](const market::Books& from, const DatasetOptions& options, ExitCode code = ExitCode::data) {
    return error_of(code, [&] { make_dataset(from, options); });
  };
  require_says(refused(books, options_of(in_rows({1, 2, 3, 4, 1'000'000}))),
               {"made: no row has a label at the horizon of 1000000 rows", "longest session"});
  require_says(refused(books, options_of(in_time({ms, 2 * ms, 3 * ms, 4 * ms, 7200 * second}))), {"7200 s"});
  require_says(refused(books, options_of(row_horizons, 5000)), {"split", "5000"});
  require_says(refused(books, options_of(row_horizons, 390)), {"no window of 390 rows", "alpha.steps"});

  market::Books flat, rising;
  for (int i = 0; i < 600; ++i)
    add_book(flat, monday_noon + i * 100 * ms, 0), add_book(rising, monday_noon + i * 100 * ms, i);
  require_says(refused(flat, options_of(row_horizons)), {"1 row all", "ties"});
  require_says(refused(rising, options_of(row_horizons)), {"train split", "all of them up"});
  for (std::size_t i = 0; i < 300; ++i)  // up and down in train, then up alone
    if (i % 2)
      for (std::size_t l = 0; l < book_levels; ++l) rising.level[i * book_levels + l].bid -= 100 * half_tick;
  require_says(refused(rising, options_of(row_horizons)), {"validation split", "all of them up"});

  market::Books thin = books, empty, blind;
  thin.levels = 1, thin.schema = "mbp-1";
  require_says(refused(thin, options_of(row_horizons)), {"mbp-1", "1 level,", "mbp-10"});
  empty.levels = book_levels, empty.source = "nothing";
  require_says(refused(empty, options_of(row_horizons)), {"nothing: 0 of 0 books"});
  for (int i = 0; i < 600; ++i) add_book(blind, monday_noon + i * 100 * ms, i, 1, true);
  require_says(refused(blind, options_of(row_horizons)), {"0 of 600 books have a bid and an ask"});

  const auto wrong = [&](const Horizons& horizons) { return refused(books, options_of(horizons), ExitCode::usage); };
  require_says(wrong(in_rows({1, 2, 2, 4, 5})), {"alpha.horizons", "1 row, 2 rows, 2 rows"});
  require_says(wrong(in_rows({0, 1, 2, 3, 4})), {"above 0"});
  require_says(wrong(in_rows({-1, 1, 2, 3, 4})), {"-1 rows"});
  Horizons mixed = in_rows({1, 2, 3, 4, 5});
  mixed[3] = {0, 4 * second};
  require_says(wrong(mixed), {"4 s"});
  require_says(refused(books, options_of(row_horizons, 0), ExitCode::usage), {"alpha.steps"});
}

TEST_CASE("dataset: horizons are named in the largest unit that is whole") {
  REQUIRE(Horizon{1, 0}.text() == "1 row");
  REQUIRE(Horizon{20, 0}.text() == "20 rows");
  REQUIRE(Horizon{0, 2 * second}.text() == "2 s");
  REQUIRE(Horizon{0, 1'500 * ms}.text() == "1500 ms");
  REQUIRE(Horizon{0, 2'500}.text() == "2500 ns");
  REQUIRE(Horizon{0, 3'000}.text() == "3 us");
}

TEST_CASE("dataset: a real day of ES, in time and in rows") {
  const auto file = market::real_data() / "dbn-market" / "esh4-20231225.mbp-10.v3.dbn.zst";
  if (!std::filesystem::exists(file)) return test::skip(file.string() + " is not there; set FOXHUNT_TEST_DATA");
  const market::Books books = market::read_books(file);
  DatasetOptions options = options_of(in_time({100 * ms, 500 * ms, second, 5 * second, 30 * second}), 64);
  options.contract = market::contract_for("ESH4");
  for (const Horizons& horizons : {options.horizons, in_rows({1, 10, 50, 200, 1000})}) {
    options.horizons = horizons;
    const Dataset data = make_dataset(books, options);
    std::cout << data.rows() << " rows, " << data.sessions() << " sessions, calendar " << data.calendar << "\n";
    for (const std::string& line : balance_lines(data)) std::cout << line << "\n";
    REQUIRE(data.rows() == books.rows());
    for (const market::Split& split : {data.splits.train, data.splits.validation, data.splits.test}) {
      const auto starts = window_starts(data, split, 64);
      REQUIRE(starts.size() > 1000);
      REQUIRE(windows_that_cross(data, starts, split, 64) == 0);
    }
    for (const LabelCounts& counts : data.balance.test) {
      REQUIRE(counts.base_rate() > 0.2);
      REQUIRE(counts.base_rate() < 0.8);
    }
  }
}

}  // namespace foxhunt::alpha
