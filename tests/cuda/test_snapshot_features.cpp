// Forty numbers of a book: bounded and finite whatever it holds, and known where it is simple.
#include "tests/cuda/kernel_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

constexpr std::int64_t tick = 250'000'000, mid_price = 5000'000'000'000;

// Places in the list of core/alpha/snapshot_features.cpp.
enum Feature : std::size_t {
  spread,
  microprice,
  mid_change,
  size_imbalance,
  order_flow = 13,
  depth3 = 23,
  depth5,
  depth10,
  orders1,
  orders10,
  trade_flow,
  trade_volume,
  trade_price,
  bid_gap,
  ask_gap,
  bid_away,
  ask_away,
  bid_depth,
  ask_depth,
  bid_levels,
  ask_levels,
  wait
};

std::size_t size(int n) { return static_cast<std::size_t>(n); }

/// Ten levels a tick apart around the mid, one tick between the best, ten contracts and two orders each.
Mbp10RawInput plain_book() {
  Mbp10RawInput book{};
  for (int l = 0; l < book_levels; ++l)
    book.level[l] = {mid_price - l * tick, mid_price + (l + 1) * tick, 10, 10, 2, 2};
  book.trade_price = undefined_price;
  return book;
}

Mbp10RawInput random_book(Random& random) {
  Mbp10RawInput book{};
  std::int64_t bid = mid_price + random.integer(-3, 3) * tick, ask = bid + random.integer(1, 3) * tick;
  for (Mbp10Level& level : book.level) {
    level = {bid,
             ask,
             static_cast<std::uint32_t>(random.integer(1, 300)),
             static_cast<std::uint32_t>(random.integer(1, 300)),
             static_cast<std::uint32_t>(random.integer(1, 40)),
             static_cast<std::uint32_t>(random.integer(1, 40))};
    bid -= random.integer(1, 2) * tick, ask += random.integer(1, 2) * tick;
  }
  book.trade_price = mid_price + random.integer(-2, 2) * tick;
  book.buy_volume = static_cast<std::uint32_t>(random.integer(0, 20));
  book.sell_volume = static_cast<std::uint32_t>(random.integer(0, 20));
  book.seconds = random.uniform(0.0f, 2.0f);
  return book;
}

std::vector<Mbp10RawInput> random_books(Random& random, int rows) {
  std::vector<Mbp10RawInput> books;
  for (int i = 0; i < rows; ++i) books.push_back(random_book(random));
  return books;
}

std::vector<float> assemble(Device& device, const Mbp10RawInput& before, const std::vector<Mbp10RawInput>& books,
                            std::int64_t tick_size = tick) {
  const TestBuffer<Mbp10RawInput> first(device, std::vector<Mbp10RawInput>{before}), input(device, books);
  TestBuffer<float> features(device, books.size() * 40);
  launch_guarded(device, snap_feature_assemble_kernel, first, input, features, static_cast<int>(books.size()),
                 tick_size);
  REQUIRE(features.unwritten() == 0);
  return features.download();
}
std::vector<float> assemble(Device& device, const Mbp10RawInput& before, const Mbp10RawInput& book) {
  return assemble(device, before, std::vector<Mbp10RawInput>{book});
}

void require_bounded(const std::vector<float>& features) {
  for (std::size_t i = 0; i < features.size(); ++i)
    if (!(std::fabs(features[i]) <= 1.0f)) FAIL("row " << i / 40 << ", feature " << i % 40 << ": " << features[i]);
}

float bounded(float x) { return x / (1.0f + std::fabs(x)); }

void require_near(float a, float b) { REQUIRE(std::fabs(a - b) < 1e-6f); }

/// Sides swapped: what was for sale below is wanted above, at mirrored prices.
Mbp10RawInput mirrored(Mbp10RawInput book) {
  const auto mirror = [](std::int64_t price) { return price == undefined_price ? price : 2 * mid_price - price; };
  for (Mbp10Level& l : book.level) l = {mirror(l.ask), mirror(l.bid), l.ask_size, l.bid_size, l.ask_count, l.bid_count};
  book.trade_price = mirror(book.trade_price);
  std::swap(book.buy_volume, book.sell_volume);
  return book;
}

Mbp10RawInput shifted(Mbp10RawInput book, std::int64_t by) {
  for (Mbp10Level& l : book.level) {
    if (l.bid != undefined_price) l.bid += by;
    if (l.ask != undefined_price) l.ask += by;
  }
  if (book.trade_price != undefined_price) book.trade_price += by;
  return book;
}

}  // namespace

TEST_CASE("kernel_snapshot: a plain book by hand") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput book = plain_book();
  book.level[0].bid_size = 30;  // against 10
  book.level[0].bid_count = 6;  // against 2
  book.level[1].bid -= tick;    // a gap of two ticks
  book.trade_price = mid_price + tick;
  book.buy_volume = 3, book.sell_volume = 1;
  book.seconds = 0.001f;
  const auto f = assemble(device, plain_book(), book);
  require_near(f[spread], bounded(1.0f));
  require_near(f[microprice], bounded(0.25f));
  require_near(f[mid_change], 0.0f);
  require_near(f[size_imbalance], 0.5f);
  require_near(f[size_imbalance + 5], 0.0f);
  require_near(f[order_flow], 20.0f / 60.0f);       // 20 bid for more, of 10 + 30 + 10 + 10 that are known
  require_near(f[order_flow + 1], -10.0f / 40.0f);  // the second bid fell back: its 10 are gone
  require_near(f[depth3], (50.0f - 30.0f) / 80.0f);
  require_near(f[depth5], (70.0f - 50.0f) / 120.0f);
  require_near(f[depth10], (120.0f - 100.0f) / 220.0f);
  require_near(f[orders1], 0.5f);
  require_near(f[orders10], (24.0f - 20.0f) / 44.0f);
  require_near(f[trade_flow], 0.5f);
  require_near(f[trade_volume], bounded(std::log(5.0f) / 4.0f));
  require_near(f[trade_price], bounded(0.5f));
  require_near(f[bid_gap], bounded(2.0f));
  require_near(f[ask_gap], bounded(1.0f));
  require_near(f[bid_away], bounded((450.0f + 10.0f) / 120.0f / 10.0f));
  require_near(f[ask_away], bounded(450.0f / 100.0f / 10.0f));
  require_near(f[bid_depth], bounded(std::log(121.0f) / 4.0f));
  require_near(f[ask_depth], bounded(std::log(101.0f) / 4.0f));
  require_near(f[bid_levels], 1.0f);
  require_near(f[ask_levels], 1.0f);
  require_near(f[wait], bounded(std::log(2.0f) / 4.0f));
}

TEST_CASE("kernel_snapshot: the book moves up a tick") {
  ON_EVERY_DEVICE(device);
  const auto f = assemble(device, plain_book(), shifted(plain_book(), tick));
  require_near(f[mid_change], bounded(1.0f));
  for (std::size_t l = 0; l < 10; ++l)  // the bid came up with all it has; the ask's 10 are gone: both push upwards
    require_near(f[order_flow + l], 20.0f / 40.0f);
}

TEST_CASE("kernel_snapshot: swapped sides turn every imbalance around") {
  ON_EVERY_DEVICE(device);
  Random random(330);
  const auto books = random_books(random, 300);
  std::vector<Mbp10RawInput> swapped;
  for (const auto& book : books) swapped.push_back(mirrored(book));
  const auto before = random_book(random);
  const auto f = assemble(device, before, books), g = assemble(device, mirrored(before), swapped);
  for (std::size_t i = 0; i < books.size(); ++i) {
    const float *a = &f[i * 40], *b = &g[i * 40];
    for (const std::size_t odd :
         {microprice, mid_change, depth3, depth5, depth10, orders1, orders10, trade_flow, trade_price})
      require_near(a[odd], -b[odd]);
    for (std::size_t l = 0; l < 10; ++l) {
      require_near(a[size_imbalance + l], -b[size_imbalance + l]);
      require_near(a[order_flow + l], -b[order_flow + l]);
    }
    for (const std::size_t even : {spread, trade_volume, wait}) REQUIRE(a[even] == b[even]);
    REQUIRE(a[bid_gap] == b[ask_gap]);
    REQUIRE(a[bid_away] == b[ask_away]);
    REQUIRE(a[bid_depth] == b[ask_depth]);
    REQUIRE(a[bid_levels] == b[ask_levels]);
  }
}

TEST_CASE("kernel_snapshot: prices shifted by whole ticks change nothing, not a bit") {
  ON_EVERY_DEVICE(device);
  Random random(331);
  const auto books = random_books(random, 130);
  const auto before = random_book(random);
  const auto f = assemble(device, before, books);
  for (const std::int64_t ticks : {1L, -7L, 123457L, -40000000L}) {  // below zero too
    std::vector<Mbp10RawInput> moved;
    for (const auto& book : books) moved.push_back(shifted(book, ticks * tick));
    REQUIRE(assemble(device, shifted(before, ticks * tick), moved) == f);
  }
}

TEST_CASE("kernel_snapshot: every row is made of its own snapshot and the one before") {
  ON_EVERY_DEVICE(device);
  Random random(332);
  for (const int rows : {1, 63, 64, 65, 1021, 20011}) {
    const auto books = random_books(random, rows);
    const auto before = random_book(random);
    const auto all = assemble(device, before, books);
    require_bounded(all);
    for (const int row : {0, rows / 2, rows - 1}) {
      const auto one = assemble(device, row > 0 ? books[size(row - 1)] : before, books[size(row)]);
      REQUIRE(std::vector<float>(all.begin() + row * 40, all.begin() + row * 40 + 40) == one);
    }
  }
}

TEST_CASE("kernel_snapshot: the first of a session has nothing before it") {
  ON_EVERY_DEVICE(device);
  Random random(333);
  Mbp10RawInput book = random_book(random);
  book.first = 1;
  const auto f = assemble(device, random_book(random), book), g = assemble(device, random_book(random), book);
  REQUIRE(f == g);
  REQUIRE(f[mid_change] == 0.0f);
  for (std::size_t l = 0; l < 10; ++l) REQUIRE(f[order_flow + l] == 0.0f);
}

TEST_CASE("kernel_snapshot: sides and levels that are not there are masked") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput empty{};
  for (Mbp10Level& l : empty.level) l = {undefined_price, undefined_price, 0, 0, 0, 0};
  empty.trade_price = undefined_price;
  for (const float x : assemble(device, empty, empty)) REQUIRE(x == 0.0f);

  Mbp10RawInput bids = plain_book();
  for (Mbp10Level& l : bids.level) l.ask = undefined_price;  // sizes stay, as real files have it
  const auto f = assemble(device, plain_book(), bids);
  REQUIRE(f[spread] == 0.0f);
  REQUIRE(f[microprice] == 0.0f);
  REQUIRE(f[mid_change] == 0.0f);
  REQUIRE(f[size_imbalance] == 1.0f);
  REQUIRE(f[ask_levels] == 0.0f);
  REQUIRE(f[bid_levels] == 1.0f);
  REQUIRE(f[order_flow] == 0.0f);  // no bid changed

  Mbp10RawInput three = plain_book();
  for (int l = 3; l < book_levels; ++l) three.level[l] = {undefined_price, undefined_price, 0, 0, 0, 0};
  const auto g = assemble(device, plain_book(), three);
  REQUIRE(g[bid_levels] == 0.3f);
  for (std::size_t l = 3; l < 10; ++l) REQUIRE(g[size_imbalance + l] == 0.0f);

  Mbp10RawInput crossed = plain_book();
  crossed.level[0].bid = crossed.level[0].ask + 4 * tick;
  const auto h = assemble(device, plain_book(), crossed);
  REQUIRE(h[spread] == 0.0f);
  REQUIRE(h[microprice] == 0.0f);
  REQUIRE(h[trade_price] == 0.0f);
  require_bounded(h);
}

TEST_CASE("kernel_snapshot: a side without prices adds nothing, whatever sizes it states") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput bids = plain_book();
  for (Mbp10Level& l : bids.level) l.ask = undefined_price;
  bids.level[0].bid_size = 30;  // against 10
  bids.trade_price = mid_price;
  const auto f = assemble(device, plain_book(), bids), g = assemble(device, mirrored(plain_book()), mirrored(bids));
  for (std::size_t l = 0; l < 10; ++l) {
    REQUIRE(f[size_imbalance + l] == 1.0f);
    REQUIRE(g[size_imbalance + l] == -1.0f);
  }
  for (const std::size_t all : {depth3, depth5, depth10, orders1, orders10}) {
    REQUIRE(f[all] == 1.0f);
    REQUIRE(g[all] == -1.0f);
  }
  require_near(f[order_flow], 20.0f / 40.0f);  // of the bids that are known
  require_near(g[order_flow], -20.0f / 40.0f);
  for (const std::size_t none : {ask_gap, ask_away, ask_depth, ask_levels, spread, mid_change, trade_price})
    REQUIRE(f[none] == 0.0f);
  for (const std::size_t none : {bid_gap, bid_away, bid_depth, bid_levels, spread, mid_change, trade_price})
    REQUIRE(g[none] == 0.0f);
  require_near(f[bid_gap], bounded(1.0f));
  require_near(g[ask_gap], bounded(1.0f));
}

TEST_CASE("kernel_snapshot: levels without a price add nothing to their side") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput book = plain_book();
  for (int l = 3; l < book_levels; ++l) book.level[l].bid = undefined_price;
  const auto f = assemble(device, plain_book(), book);
  require_near(f[depth3], 0.0f);
  require_near(f[depth5], (30.0f - 50.0f) / 80.0f);
  require_near(f[depth10], (30.0f - 100.0f) / 130.0f);
  require_near(f[orders10], (6.0f - 20.0f) / 26.0f);
  require_near(f[bid_away], bounded(30.0f / 30.0f / 10.0f));
  require_near(f[bid_depth], bounded(std::log(31.0f) / 4.0f));
  require_near(f[bid_levels], 0.3f);
}

TEST_CASE("kernel_snapshot: without a best price there is no gap behind it and no distance from it") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput bare = plain_book(), lonely = plain_book();
  bare.level[0].bid = undefined_price;
  lonely.level[1].bid_size = 0;
  for (const std::int64_t unit : {std::int64_t{1}, tick}) {
    const auto one = [&](const Mbp10RawInput& book) { return assemble(device, plain_book(), {book}, unit); };
    const auto f = one(bare), g = one(mirrored(bare));
    REQUIRE((f[bid_gap] == 0.0f && f[bid_away] == 0.0f));
    REQUIRE((g[ask_gap] == 0.0f && g[ask_away] == 0.0f));
    REQUIRE((f[ask_gap] > 0.0f && f[ask_away] > 0.0f));
    REQUIRE((f[bid_levels] == 0.9f && g[ask_levels] == 0.9f));
    REQUIRE(one(lonely)[bid_gap] == 0.0f);
    REQUIRE(one(mirrored(lonely))[ask_gap] == 0.0f);
    REQUIRE(one(lonely)[ask_gap] > 0.0f);
  }
}

TEST_CASE("kernel_snapshot: one contract makes a level") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput book = plain_book();
  for (Mbp10Level& l : book.level) l.bid_size = l.ask_size = 1;
  const auto f = assemble(device, plain_book(), book);
  REQUIRE((f[bid_levels] == 1.0f && f[ask_levels] == 1.0f));
  require_near(f[bid_depth], bounded(std::log(11.0f) / 4.0f));
  require_near(f[spread], bounded(1.0f));
}

TEST_CASE("kernel_snapshot: prices say what they can, without a trade and at the start of a session") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput book = plain_book();  // without a trade
  book.level[0].bid_size = 30;
  for (const std::uint32_t first : {0u, 1u}) {
    book.first = first;
    const auto f = assemble(device, shifted(plain_book(), tick), book);
    require_near(f[spread], bounded(1.0f));
    require_near(f[microprice], bounded(0.25f));
    require_near(f[mid_change], first ? 0.0f : bounded(-1.0f));
    require_near(f[bid_gap], bounded(1.0f));
    REQUIRE(f[trade_price] == 0.0f);
  }
  book.trade_price = mid_price + tick;
  require_near(assemble(device, plain_book(), book)[trade_price], bounded(0.5f));
}

TEST_CASE("kernel_snapshot: a mid moves with its best prices alone, and a locked book has one") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput lower = plain_book(), locked = plain_book();
  lower.level[0].bid -= tick;
  require_near(assemble(device, lower, plain_book())[mid_change], bounded(0.5f));
  locked.level[0].ask = locked.level[0].bid;
  locked.trade_price = mid_price + tick;
  const auto f = assemble(device, plain_book(), locked);
  REQUIRE(f[spread] == 0.0f);
  require_near(f[mid_change], bounded(-0.5f));
  require_near(f[trade_price], bounded(1.0f));
}

TEST_CASE("kernel_snapshot: a wait counts up to a million seconds, and none before zero") {
  ON_EVERY_DEVICE(device);
  Mbp10RawInput book = plain_book();
  const auto waited = [&](float seconds) {
    book.seconds = seconds;
    return assemble(device, plain_book(), book)[wait];
  };
  require_near(waited(1e6f), bounded(std::log(1e9f) / 4.0f));
  REQUIRE(waited(3e6f) == waited(1e6f));
  REQUIRE(waited(0.9e6f) < waited(1e6f));
  REQUIRE(waited(-1.0f) == 0.0f);
}

TEST_CASE("kernel_snapshot: whatever a book holds, its features are finite and within one") {
  ON_EVERY_DEVICE(device);
  Random random(334);
  const std::int64_t prices[] = {INT64_MIN, INT64_MAX, INT64_MAX - 1, 0, 1, -1, mid_price};
  const std::uint32_t sizes[] = {0, 1, 77, UINT32_MAX};
  const float times[] = {0.0f, 1e-9f, 3e38f, -5.0f};
  std::vector<Mbp10RawInput> books(3000);
  for (Mbp10RawInput& book : books) {
    const auto price = [&] { return prices[random.integer(0, 6)]; };
    const auto amount = [&] { return sizes[random.integer(0, 3)]; };
    for (Mbp10Level& l : book.level) l = {price(), price(), amount(), amount(), amount(), amount()};
    book.trade_price = price();
    book.buy_volume = amount(), book.sell_volume = amount();
    book.seconds = times[random.integer(0, 3)];
    book.first = random.integer(0, 3) == 0;
  }
  for (const std::int64_t unit : {std::int64_t{1}, tick, INT64_MAX})
    require_bounded(assemble(device, books[0], books, unit));
}
