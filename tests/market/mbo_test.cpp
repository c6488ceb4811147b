#include <map>
#include <random>

#include "core/market/mbo_book.h"
#include "tests/market/book_fixture.h"

namespace foxhunt::market {
namespace {

OrderEvent order(char action, std::uint64_t id, char side, std::int64_t price, std::uint32_t size,
                 std::uint8_t flags = 128) {
  return {id, price, size, action, side, flags};
}

std::vector<BookLevel> top_of(const MboBook& book) {
  std::vector<BookLevel> levels(MboBook::depth);
  book.top(levels.data());
  return levels;
}

Event mbo_event(std::int64_t seconds, char action, std::uint64_t id, char side, std::int64_t price, std::uint32_t size,
                std::uint8_t flags = 128) {
  Event event = event_at(seconds);
  event.action = action, event.side = side, event.price = price * point, event.size = size, event.flags = flags;
  event.order = id;
  return event;
}

Books books_of_events(const std::vector<Event>& events) {
  std::string bytes = dbn_metadata_bytes({3, 0, false});
  for (const Event& event : events) bytes += dbn_mbo_bytes(event);
  return books_of(bytes);
}

}  // namespace

TEST_CASE("mbo: orders add up to levels") {
  MboBook book;
  REQUIRE(book.apply(order('A', 1, 'B', 100, 5)) == nullptr);
  REQUIRE(book.apply(order('A', 2, 'B', 100, 7)) == nullptr);
  REQUIRE(book.apply(order('A', 3, 'B', 99, 1)) == nullptr);
  REQUIRE(book.apply(order('A', 4, 'A', 101, 2)) == nullptr);
  auto top = top_of(book);
  CHECK(top[0] == BookLevel{100, 101, 12, 2, 2, 1});
  CHECK(top[1] == BookLevel{99, no_price, 1, 0, 1, 0});
  CHECK(top[2] == BookLevel{});

  REQUIRE(book.apply(order('C', 2, 'B', 100, 3)) == nullptr);  // a part of it
  REQUIRE(book.apply(order('M', 3, 'B', 100, 4)) == nullptr);  // to another price
  top = top_of(book);
  CHECK(top[0] == BookLevel{100, 101, 13, 2, 3, 1});
  CHECK(top[1] == BookLevel{});
  REQUIRE(book.apply(order('C', 1, 'B', 100, 99)) == nullptr);  // more than there is
  REQUIRE(book.apply(order('A', 4, 'A', 102, 9)) == nullptr);   // an id again: the order is replaced
  CHECK(top_of(book)[0] == BookLevel{100, 102, 8, 9, 2, 1});
  CHECK(book.orders() == 3);
}

TEST_CASE("mbo: trades, fills and unknown actions never change the book") {
  MboBook book;
  book.apply(order('A', 1, 'B', 100, 5)), book.apply(order('A', 2, 'A', 101, 5));
  const auto before = top_of(book);
  book.take_touched();
  for (const char action : {'T', 'F', 'N', '?'}) REQUIRE(book.apply(order(action, 1, 'B', 100, 5)) == nullptr);
  REQUIRE(top_of(book) == before);
  REQUIRE_FALSE(book.take_touched());
}

TEST_CASE("mbo: what is wrong with an event is said") {
  MboBook book;
  REQUIRE(book.apply(order('C', 9, 'B', 100, 5)) == std::string("unknown order"));
  REQUIRE(book.apply(order('A', 1, 'N', 100, 5)) == std::string("order without a side"));
  REQUIRE(book.apply(order('A', 1, 'B', no_price, 5)) == std::string("undefined price"));
  REQUIRE(book.orders() == 0);
  REQUIRE(book.apply(order('M', 5, 'A', 100, 5)) == nullptr);  // unknown: added
  REQUIRE(top_of(book)[0] == BookLevel{no_price, 100, 0, 5, 0, 1});
}

TEST_CASE("mbo: clear, snapshot and top of book") {
  MboBook book;
  book.apply(order('A', 1, 'B', 100, 5)), book.apply(order('A', 2, 'A', 101, 5));
  book.apply(order('A', 3, 'B', 90, 1, 32)), book.apply(order('A', 4, 'A', 91, 1, 32));  // no clear before it
  CHECK(top_of(book)[0] == BookLevel{90, 91, 1, 1, 1, 1});
  CHECK(book.orders() == 2);
  book.apply(order('A', 5, 'B', 80, 7, 64));
  CHECK(top_of(book)[0] == BookLevel{80, 91, 7, 1, 1, 1});
  CHECK(book.apply(order('A', 6, 'B', no_price, 0, 64)) == nullptr);
  CHECK(top_of(book)[0] == BookLevel{no_price, 91, 0, 1, 0, 1});
  book.take_touched();
  book.apply(order('R', 0, 'N', no_price, 0));
  CHECK(book.take_touched());
  CHECK(top_of(book) == std::vector<BookLevel>(10));
  CHECK(book.orders() == 0);
}

TEST_CASE("mbo: only what is within ten levels is seen") {
  MboBook book;
  for (std::uint64_t i = 0; i < 12; ++i) {
    book.apply(order('A', i, 'B', 100 - static_cast<std::int64_t>(i), 1));
    REQUIRE(book.take_touched() == (i < 10));
  }
  book.apply(order('C', 11, 'B', 89, 1));
  REQUIRE_FALSE(book.take_touched());
  book.apply(order('M', 10, 'B', 95, 1));  // into the ten
  REQUIRE(book.take_touched());
  book.apply(order('M', 10, 'B', 50, 1));  // out of them
  REQUIRE(book.take_touched());
  book.apply(order('M', 0, 'B', 100, 1));  // no total changes
  REQUIRE(book.take_touched());
}

TEST_CASE("mbo: the book is the sum of the live orders, whatever happens to them") {
  std::mt19937_64 random(test::seed());
  struct Live {
    std::int64_t price;
    std::uint32_t size;
    bool bid;
  };
  std::map<std::uint64_t, Live> live;
  MboBook book;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t id = random() % 400;
    const bool bid = random() % 2;
    const auto price = static_cast<std::int64_t>(random() % 60) - 30 + (bid ? -25 : 25);
    const auto size = static_cast<std::uint32_t>(1 + random() % 9);
    const bool add = random() % 3 != 0;
    const OrderEvent event = order(add ? (random() % 2 ? 'A' : 'M') : 'C', id, bid ? 'B' : 'A', price, size);
    const char* wrong = book.apply(event);
    const auto at = live.find(id);
    if (add)
      live[id] = {price, size, bid};
    else if (at == live.end())
      REQUIRE(wrong == std::string("unknown order"));
    else if (at->second.size <= size)
      live.erase(at);
    else
      at->second.size -= size;

    if (step % 50) continue;
    std::map<std::int64_t, std::pair<std::uint32_t, std::uint32_t>> sides[2];
    for (const auto& [ignored, o] : live) {
      auto& [total, count] = sides[o.bid][o.bid ? -o.price : o.price];
      total += o.size, ++count;
    }
    const auto top = top_of(book);
    for (const bool side : {false, true}) {
      auto level = sides[side].begin();
      for (const BookLevel& seen : top) {
        const bool there = level != sides[side].end();
        REQUIRE((side ? seen.bid : seen.ask) == (there ? (side ? -level->first : level->first) : no_price));
        REQUIRE((side ? seen.bid_size : seen.ask_size) == (there ? level->second.first : 0));
        REQUIRE((side ? seen.bid_count : seen.ask_count) == (there ? level->second.second : 0));
        if (there) ++level;
      }
    }
  }
  REQUIRE(book.orders() == live.size());
}

TEST_CASE("mbo: a row is a trade, or an event that touched ten levels") {
  const Books books = books_of_events({
      mbo_event(0, 'A', 1, 'B', 100, 5, 32), mbo_event(0, 'A', 2, 'A', 101, 6, 32),  // a snapshot without an end
      mbo_event(1, 'A', 3, 'B', 99, 1),                                              // a row
      mbo_event(2, 'T', 0, 'B', 101, 2, 0),                                          // a row: the book it found
      mbo_event(2, 'F', 2, 'A', 101, 2, 0), mbo_event(3, 'M', 2, 'A', 101, 4),       // a row
      mbo_event(4, 'C', 3, 'B', 99, 1, 0), mbo_event(4, 'A', 4, 'B', 98, 3, 0),      // in the middle of an event
      mbo_event(5, 'N', 0, 'N', 0, 0),                                               // a row: its end
      mbo_event(6, 'N', 0, 'N', 0, 0),                                               // nothing happened
      mbo_event(7, 'C', 77, 'B', 99, 1),                                             // nothing known
  });
  REQUIRE(books.levels == 10);
  REQUIRE(books.schema == "mbo");
  REQUIRE(books.rejects == std::map<std::string, std::int64_t>{{"unknown order", 1}});
  REQUIRE(books.rows() == 4);
  const std::int64_t seconds[] = {1, 2, 3, 5};
  const std::uint32_t ask_size[] = {6, 6, 4, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(books.ts_recv[i] == monday + seconds[i] * ns_per_second + 5);
    CHECK(books.row(i)->ask_size == ask_size[i]);
  }
  CHECK(books.row(2)[1].bid == 99 * point);
  CHECK(books.row(3)[1].bid == 98 * point);
  CHECK(books.buy_volume == Column<std::uint32_t>{0, 2, 0, 0});
  CHECK(books.trade_price[3] == 101 * point);
}

TEST_CASE("mbo: orders that end no event make no row") {
  require_says(error_of(ExitCode::data, [] { books_of_events({mbo_event(0, 'A', 1, 'B', 100, 5, 32)}); }),
               {"schema mbo", "1 records that make none"});
}

TEST_CASE("mbo: every instrument has its own book") {
  Event other = mbo_event(1, 'A', 1, 'A', 50, 9);
  other.instrument = 2;
  std::string bytes = dbn_metadata_bytes({3, 0, false, {{"ESH4", 1}, {"ESM4", 2}}});
  for (const Event& event : {mbo_event(0, 'A', 1, 'B', 100, 5), other, mbo_event(2, 'A', 2, 'A', 101, 6)})
    bytes += dbn_mbo_bytes(event);
  ReadOptions options;
  options.instrument = "ESH4";
  const Books books = books_of(bytes, options);
  REQUIRE(books.rows() == 2);
  REQUIRE(*books.row(1) == BookLevel{100 * point, 101 * point, 5, 6, 1, 1});
}

}  // namespace foxhunt::market
