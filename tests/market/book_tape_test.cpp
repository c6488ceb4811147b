#include "core/market/book_tape.h"

#include <cmath>
#include <random>

#include "core/error.h"
#include "core/market/features.h"
#include "tests/catch.h"

using namespace foxhunt;
using namespace foxhunt::market;

namespace {

constexpr std::int64_t tick = 250'000'000, base = 4000LL * price_scale, second = 1'000'000'000;
const Contract es{"ES", tick, 50, 2.5};

/// Adds a book of one level: `bid` and `ask` in ticks from the base, sizes.
void add(Books& books, std::int64_t ts, int bid, int ask, unsigned bid_size = 10, unsigned ask_size = 10) {
  const BookLevel level{base + bid * tick, base + ask * tick, bid_size, ask_size, 1, 1};
  books.levels = 1;
  books.level.push_back(level);
  books.ts_event.push_back(ts);
  books.ts_recv.push_back(ts);
  books.trade_price.push_back(no_price);
  books.buy_volume.push_back(0);
  books.sell_volume.push_back(0);
  books.instrument.push_back(7);
}

const std::vector<double>& column(const Tape& tape, const std::string& name) {
  for (const ExtraColumn& extra : tape.bars.extra)
    if (extra.name == name) return extra.values;
  throw std::logic_error("no column " + name);
}

Books random_books(int rows, std::mt19937_64& random) {
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Books books;
  std::int64_t ts = 1'700'000'000 * second;
  int mid = 0;
  for (int i = 0; i < rows; ++i) {
    ts += pick(0, 5) == 0 ? pick(0, 3) * 3600 * second : pick(0, 2) * second / 4;
    mid += pick(-1, 1);
    add(books, ts, mid - pick(1, 2), mid + pick(1, 2), static_cast<unsigned>(pick(0, 9)),
        static_cast<unsigned>(pick(1, 9)));
  }
  return books;
}

}  // namespace

TEST_CASE("book tape: an order is filled at the first book after the latency and pays that book's spread") {
  Books books;
  add(books, 1 * second, 0, 2);
  add(books, 2 * second, 2, 4);
  add(books, 2 * second, 4, 8);  // known at the same time as the row before: not after it
  add(books, 3 * second, 6, 8);
  add(books, 9 * second, 8, 10);
  const Tape now = make_book_tape(books, es, {});
  REQUIRE(now.rows() == 5);
  REQUIRE(now.mid[0] == base + 1 * tick);
  REQUIRE(now.fill_mid[0] == base + 3 * tick);
  REQUIRE(now.half_spread[0] == tick);
  REQUIRE(now.fill_mid[1] == base + 7 * tick);
  REQUIRE(now.fill_mid[2] == base + 7 * tick);
  REQUIRE(now.half_spread[2] == tick);  // its own is two
  const Tape late = make_book_tape(books, es, {{}, 1 * second});
  REQUIRE(late.fill_mid[0] == base + 7 * tick);  // 2 s is not after 1 s + 1 s
  REQUIRE(late.fill_mid[3] == base + 9 * tick);
}

TEST_CASE("book tape: where no book comes in time an order is filled at the session's last row") {
  Books books;
  add(books, 1 * second, 0, 2);
  add(books, 2 * second, 2, 4);
  add(books, 7200 * second, 40, 42);
  add(books, 7201 * second, 42, 44);
  const Tape tape = make_book_tape(books, es, {{}, 10 * second});
  REQUIRE(tape.session == std::vector<std::int32_t>{0, 0, 1, 1});
  REQUIRE((tape.flags[1] & last_of_session) != 0);
  REQUIRE(tape.fill_mid[0] == tape.mid[1]);
  REQUIRE(tape.fill_mid[1] == tape.mid[1]);
  REQUIRE(tape.fill_mid[2] == tape.mid[3]);
}

TEST_CASE("book tape: one-sided books are left out and counted") {
  Books books;
  add(books, 1 * second, 0, 2);
  add(books, 2 * second, 0, 2, 0, 5);
  add(books, 3 * second, 2, 4);
  const Tape tape = make_book_tape(books, es, {});
  REQUIRE(tape.rows() == 2);
  REQUIRE(tape.bars.rejects.at("one-sided book") == 1);
  Books empty;
  add(empty, 1 * second, 0, 2, 0, 5);
  REQUIRE_THROWS_AS(make_book_tape(empty, es, {}), Error);
}

TEST_CASE("book tape: imbalances are within -1 and 1, and change sign when the sides are swapped") {
  std::mt19937_64 random(test::seed());
  Books books = random_books(300, random), swapped = books;
  for (BookLevel& level : swapped.level) {
    const BookLevel was = level;
    level = {2 * base - was.ask, 2 * base - was.bid, was.ask_size, was.bid_size, was.ask_count, was.bid_count};
  }
  const Tape tape = make_book_tape(books, es, {}), mirror = make_book_tape(swapped, es, {});
  REQUIRE(tape.rows() == mirror.rows());
  for (const char* name :
       {"book_size_imbalance_1", "book_order_imbalance_1", "book_microprice_ticks", "book_order_flow"})
    for (std::size_t i = 0; i < tape.rows(); ++i) {
      CAPTURE(name, i);
      const double here = column(tape, name)[i], there = column(mirror, name)[i];
      REQUIRE(std::fabs(here + there) < 1e-12);
      if (std::string(name).find("imbalance") != std::string::npos) REQUIRE(std::fabs(here) <= 1);
    }
}

TEST_CASE("book tape: what comes later changes nothing earlier but the fills that reach it") {
  std::mt19937_64 random(test::seed() + 1);
  for (int round = 0; round < 20; ++round) {
    const Books books = random_books(200, random);
    const auto cut = std::uniform_int_distribution<std::size_t>(20, 180)(random);
    Books changed = books;
    const std::int64_t later = std::uniform_int_distribution<std::int64_t>(0, 7200)(random) * second;
    const bool roll = round % 2;
    for (std::size_t i = cut; i < changed.rows(); ++i) {
      changed.level[i].bid -= 3 * tick;
      changed.level[i].ask += 5 * tick;
      changed.level[i].ask_size += 40;
      changed.buy_volume[i] += 9;
      changed.ts_recv[i] += later;
      if (roll) ++changed.instrument[i];
    }
    const Tape a = make_book_tape(books, es, {{}, second}), b = make_book_tape(changed, es, {{}, second});
    REQUIRE(a.rows() == b.rows());
    const FeatureTable before = make_features(a, {0, 15}, 5, {1, 5}), after = make_features(b, {0, 15}, 5, {1, 5});
    std::size_t kept = 0;  // rows of the tape that lie before the cut
    while (kept < a.rows() && a.ts[kept] < books.ts_recv[cut]) ++kept;
    CAPTURE(round, cut, kept);
    REQUIRE(kept > 15);
    for (std::size_t i = 0; i < kept * before.width(); ++i) REQUIRE(before.values[i] == after.values[i]);
    for (std::size_t i = 0; i < kept; ++i) {
      REQUIRE(a.mid[i] == b.mid[i]);
      REQUIRE(a.session[i] == b.session[i]);
      if (i + 1 < kept) REQUIRE(a.flags[i] == b.flags[i]);
      if (i + 1 < kept && a.ts[kept - 1] > a.ts[i] + second) REQUIRE(a.fill_mid[i] == b.fill_mid[i]);
    }
    bool differs = false;
    for (std::size_t i = kept * before.width(); i < before.values.size(); ++i)
      differs = differs || before.values[i] != after.values[i];
    REQUIRE(differs);
  }
}

TEST_CASE("trade bars: open, high, low, close and volume of each interval that traded") {
  Trades trades;
  trades.schema = "trades";
  const auto trade = [&](std::int64_t ts, int ticks, unsigned size) {
    trades.ts_event.push_back(ts);
    trades.ts_recv.push_back(ts);
    trades.price.push_back(base + ticks * tick);
    trades.size.push_back(size);
    trades.side.push_back('B');
    trades.instrument.push_back(7);
  };
  trade(10 * second + 1, 4, 1), trade(10 * second + 5, 9, 2), trade(10 * second + 7, -3, 3),
      trade(11 * second - 1, 1, 4);
  trade(14 * second, 2, 5);
  const Bars bars = bars_of_trades(trades, second);
  REQUIRE(bars.ts_open == std::vector<std::int64_t>{10 * second, 14 * second});
  REQUIRE(bars.open == std::vector<std::int64_t>{base + 4 * tick, base + 2 * tick});
  REQUIRE(bars.high[0] == base + 9 * tick);
  REQUIRE(bars.low[0] == base - 3 * tick);
  REQUIRE(bars.close[0] == base + 1 * tick);
  REQUIRE(bars.volume == std::vector<std::uint64_t>{10, 5});
  REQUIRE_THROWS_AS(bars_of_trades(Trades{}, second), Error);
}

TEST_CASE("book tape: a column of one value a book gives each row its own book's, whatever is left out") {
  std::mt19937_64 random(test::seed());
  const Books books = random_books(500, random);  // some without a bid
  ExtraColumn number{"number", {}};
  std::vector<double> expected;
  for (std::size_t i = 0; i < books.rows(); ++i) {
    number.values.push_back(static_cast<double>(i));
    if (books.two_sided(i)) expected.push_back(static_cast<double>(i));
  }
  REQUIRE(expected.size() < books.rows());
  const Tape tape = make_book_tape(books, es, {}, {number});
  REQUIRE(tape.bars.extra.back().name == "number");
  REQUIRE(column(tape, "number") == expected);
  number.values.pop_back();
  REQUIRE_THROWS_WITH(make_book_tape(books, es, {}, {number}), ": column number has 499 values for 500 books");
}
