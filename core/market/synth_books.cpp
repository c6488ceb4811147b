#include <fmt/format.h>

#include <cmath>

#include "core/error.h"
#include "core/market/civil_time.h"
#include "core/market/synth.h"
#include "core/market/synth_ladder.h"
#include "core/market/synth_random.h"
#include "core/market/synth_sessions.h"

namespace foxhunt::market {
namespace {

constexpr std::int64_t one = synth_one;
constexpr std::int64_t mean_wait = ns_per_second / 5;
constexpr std::int64_t most_rows = 10'000'000;
constexpr std::int64_t widest_spread = 4;  // ticks

struct Edge {
  std::int64_t renewal;  // the pressure is drawn anew on one row of so many
  double strength;       // default
};

Edge edge_of(MarketKind kind) {
  switch (kind) {
    case MarketKind::baseline:
      return {50, 0.2};
    case MarketKind::trend:
      return {500, 0.4};
    case MarketKind::revert:
    case MarketKind::regime:
      return {50, 0.4};
    case MarketKind::skewed:
      return {50, 0.9};
    case MarketKind::walk:
      break;
  }
  return {50, 0};
}

void check_rows(const SynthOptions& options) {
  if (options.rows < 2 || options.rows > 100'000)
    throw Error(ExitCode::usage, fmt::format("rows of a session must be between 2 and 100000, got {}", options.rows));
  if (options.rows * options.sessions > most_rows)
    throw Error(ExitCode::usage, fmt::format("{} sessions of {} rows are more than {} rows in all; ask for fewer",
                                             options.sessions, options.rows, most_rows));
}

class BookMarket {
 public:
  explicit BookMarket(const SynthOptions& options)
      : options_(options),
        sessions_(options),
        edge_(edge_of(options.kind)),
        strength_(std::llround(options.strength.value_or(edge_.strength) * one)),
        random_(options.seed) {
    check_rows(options);
  }

  Books run() {
    books_.levels = SynthLadder::depth;
    const auto rows = static_cast<std::size_t>(options_.rows * options_.sessions);
    each_column(books_, [&](auto& column, std::size_t width) { column.reserve(rows * width); });
    ladder_.reset(synth_start_price, random_);
    draw_pressure();
    ladder_.resize(pressure_, random_);
    while (sessions_.next()) {
      ladder_.shift(on_synth_grid(sessions_.overnight_change(random_)));
      trade_session();
    }
    books_.symbols = sessions_.symbols();
    books_.schema = "mbp-10";
    books_.source = "synthetic";
    return std::move(books_);
  }

 private:
  void trade_session() {
    if (books_.rows() && books_.instrument.back() != sessions_.contract()) trade_price_ = no_price;
    anchor_ = mid();
    std::int64_t ts = sessions_.open();
    const std::int64_t halt_at = sessions_.halts() ? options_.rows / 3 + random_.below(options_.rows / 3) : -1;
    for (std::int64_t row = 0; row < options_.rows; ++row) {
      if (row == halt_at) ts += synth_halt;
      ts += wait(row);
      if (in_regime() && row_number() % regime_rows == 0) anchor_ = mid();
      bought_ = sold_ = 0;
      if (random_.below(5) == 0)
        trade();
      else
        change_book();
      add_row(ts);
    }
  }

  /// Time since the row before, ns: longer in the middle of the session, by 1.3 to 0.4 at its ends; 0 for one in 20.
  std::int64_t wait(std::int64_t row) {
    const std::int64_t from_middle = (2 * row - options_.rows) * one / options_.rows;
    const std::int64_t mean = mean_wait / one * (one * 13 / 10 - from_middle * from_middle / one * 9 / 10);
    if (random_.below(20) == 0) return 0;
    const std::int64_t product = random_.below(one) * random_.below(one) / one;  // of two uniforms: mean one / 4
    return 1 + mean * 20 / 19 / one * 4 * product;
  }

  /// Sum of best bid and best ask: twice the mid, so that it is whole.
  std::int64_t mid() const { return ladder_.best(SynthLadder::bid) + ladder_.best(SynthLadder::ask); }

  void trade() {
    const int aggressor = random_.below(4) ? pressure_ : -pressure_;
    const auto size = static_cast<std::uint32_t>(1 + random_.below(10));
    (aggressor > 0 ? bought_ : sold_) = size;
    trade_price_ = ladder_.best(aggressor > 0 ? SynthLadder::ask : SynthLadder::bid);
  }

  void change_book() {
    if (random_.below(4) == 0) move();
    if (random_.below(4 * edge_.renewal) < 5) draw_pressure();  // four rows of five come here
    ladder_.resize(pressure_, random_);
  }

  /// The mid goes a tick, or half a tick where the spread changes. Mostly it is one tick.
  void move() {
    const int direction = move_direction();
    const std::int64_t spread = ladder_.spread_ticks(), chance = random_.below(16);
    const bool narrows = spread > 1 && chance < 8;
    const bool widens = spread < widest_spread && chance >= 14;
    if (!widens) ladder_.gain(SynthLadder::gaining(direction), random_);
    if (!narrows) ladder_.lose(SynthLadder::losing(direction), random_);
  }

  /// That of the pressure, with probability (1 + strength) / 2.
  int move_direction() {
    const bool follows = random_.below(2 * one) < one + strength_;
    if (ladder_.best(SynthLadder::bid) <= synth_lowest_price) return 1;
    return follows ? pressure_ : -pressure_;
  }

  std::int64_t row_number() const { return static_cast<std::int64_t>(books_.rows()); }
  bool in_regime() const { return options_.kind == MarketKind::regime; }
  bool reverts() const {
    return options_.kind == MarketKind::revert || (in_regime() && row_number() / regime_rows % 2 == 1);
  }

  void draw_pressure() {
    pressure_ = random_.below(2) ? 1 : -1;
    if (options_.kind == MarketKind::skewed) pressure_ = 1;
    if (reverts() && mid() != anchor_) pressure_ = mid() < anchor_ ? 1 : -1;
  }

  void add_row(std::int64_t ts) {
    BookLevel* row = books_.level.extend(SynthLadder::depth);
    ladder_.copy_to(row);
    if (options_.holes && bought_ + sold_ == 0) punch(row);
    books_.ts_recv.push_back(ts);
    books_.ts_event.push_back(ts - 50'000 - random_.below(200'000));
    books_.trade_price.push_back(trade_price_);
    books_.buy_volume.push_back(bought_);
    books_.sell_volume.push_back(sold_);
    books_.instrument.push_back(sessions_.contract());
  }

  /// Now and then takes all levels of a side away, or the last ones.
  void punch(BookLevel* row) {
    const std::int64_t chance = random_.below(1024);
    if (chance > 2) return;
    const std::size_t from = chance == 0 ? 0 : 1 + static_cast<std::size_t>(random_.below(SynthLadder::depth - 1));
    const bool bids = random_.below(2);
    for (std::size_t l = from; l < SynthLadder::depth; ++l) {
      if (bids)
        row[l].bid = no_price, row[l].bid_size = row[l].bid_count = 0;
      else
        row[l].ask = no_price, row[l].ask_size = row[l].ask_count = 0;
    }
  }

  const SynthOptions options_;
  SynthSessions sessions_;  // checks the options
  const Edge edge_;
  const std::int64_t strength_;
  SynthRandom random_;
  SynthLadder ladder_;
  Books books_;
  int pressure_ = 1;
  std::int64_t anchor_ = 0;
  std::int64_t trade_price_ = no_price;
  std::uint32_t bought_ = 0, sold_ = 0;
};

}  // namespace

Books synthesize_books(const SynthOptions& options) { return BookMarket(options).run(); }

}  // namespace foxhunt::market
