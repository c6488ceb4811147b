// Exact money: markets whose result is known by hand, run through the environment itself.
#include <cmath>

#include "core/market/book_tape.h"
#include "core/market/civil_time.h"
#include "tests/dqn/training_fixture.h"

using namespace foxhunt;
using namespace foxhunt::test;

namespace {

using Path = std::vector<std::int64_t>;

constexpr std::int64_t days = 8, rows = 12;
constexpr std::int32_t is_short = 0, is_flat = 1, is_long = 2;

/// One-minute bars: the same day eight times, at closes in ticks above 20,000; a bar opens where the last one closed.
market::Bars bars_of(const Path& closes, std::int64_t tick) {
  market::Bars bars;
  bars.interval = market::ns_per_minute;
  bars.schema = "ohlcv-1m";
  bars.source = "test";
  for (std::int64_t day = 0; day < days; ++day)
    for (std::size_t i = 0; i < closes.size(); ++i) {
      const std::int64_t open = (20'000 + closes[i ? i - 1 : 0]) * tick, close = (20'000 + closes[i]) * tick;
      bars.ts_open.push_back(day * market::ns_per_day + static_cast<std::int64_t>(i) * market::ns_per_minute);
      bars.open.push_back(open);
      bars.close.push_back(close);
      bars.high.push_back(std::max(open, close));
      bars.low.push_back(std::min(open, close));
      bars.volume.push_back(10);
      bars.instrument.push_back(1);
    }
  return bars;
}

profile::Profile money_profile(const std::string& symbol, const std::vector<std::string>& more) {
  std::vector<std::string> overrides = {"contract.symbol=\"" + symbol + "\"", "environment.actions=[-1, 0, 1]",
                                        "data.purge_rows=0", "training.gpu_timesteps_per_episode=8"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return smoke_profile(overrides);
}

/// Actions by the row of a day.
dqn::Performance run_policy(Training& training, const std::function<std::int32_t(std::int64_t)>& action) {
  const auto sessions = training.trainer.test().run([&](std::int64_t row) { return action(row % rows); });
  REQUIRE(training.trainer.test().accounting_error() < 0.01);
  REQUIRE(training.trainer.test().nonfinite() == 0);
  return dqn::measure(sessions, training.trainer.account());
}

/// What a day of the test split gives.
struct DayResult {
  double gross, costs, net, contracts;
};

DayResult run_day(const std::string& symbol, const Path& closes, const std::vector<std::string>& overrides,
                  const std::function<std::int32_t(std::int64_t)>& action) {
  const profile::Profile profile = money_profile(symbol, overrides);
  const auto tick = market::contract_for(symbol).tick_size;
  Training training(profile, "host", dqn::make_market(bars_of(closes, tick), profile));
  const dqn::Performance p = run_policy(training, action);
  REQUIRE(p.sessions >= 1);
  const auto n = static_cast<double>(p.sessions);
  return {p.gross / n, p.costs / n, p.net / n, p.contracts / n};
}

Path constant() { return Path(rows, 0); }

Path ramp() {
  Path closes;
  for (std::int64_t i = 0; i < rows; ++i) closes.push_back(i);
  return closes;
}

Path alternating() {
  Path closes;
  for (std::int64_t i = 0; i < rows; ++i) closes.push_back(i % 2);
  return closes;
}

struct Known {
  std::string symbol;
  double dollars_a_tick, commission;
};
const std::vector<Known> contracts = {
    {"ES", 12.5, 2.25}, {"NQ", 5, 2.25}, {"CL", 10, 2.37}, {"6E", 6.25, 2.47}, {"SHARE", 0.01, 0}};

const auto always_long = [](std::int64_t) { return is_long; };

}  // namespace

TEST_CASE("money: one ES contract, one point, $5 a side: $50 - $10 round trip") {
  Path closes = constant();
  for (std::size_t i = 6; i < closes.size(); ++i) closes[i] = 4;
  const std::vector<std::string> terms = {"contract.commission=5", "contract.spread_ticks=0"};
  // Bought after row 5 at the next bar's open, sold after row 6, one point higher.
  const auto over_the_point = [](std::int64_t row) { return row == 5 ? is_long : is_flat; };
  const DayResult won = run_day("ES", closes, terms, over_the_point);
  REQUIRE(won.gross == Approx(50));
  REQUIRE(won.costs == Approx(10));
  REQUIRE(won.net == Approx(40));
  REQUIRE(won.contracts == 2);
  const DayResult lost = run_day("ES", closes, terms, [](std::int64_t row) { return row == 5 ? is_short : is_flat; });
  REQUIRE(lost.gross == Approx(-50));
  REQUIRE(lost.net == Approx(-60));
  // A row late there is nothing left to win.
  const DayResult late = run_day("ES", closes, terms, [](std::int64_t row) { return row == 6 ? is_long : is_flat; });
  REQUIRE(late.gross == Approx(0).margin(1e-9));
  REQUIRE(late.net == Approx(-10));
  // Three contracts are three times that.
  const DayResult three = run_day("ES", closes, {terms[0], terms[1], "environment.max_contracts=3"}, over_the_point);
  REQUIRE(three.net == Approx(120));
  REQUIRE(three.contracts == 6);
}

TEST_CASE("money: constant, rising and alternating bars of every contract, by hand") {
  constexpr auto moves = static_cast<double>(rows - 1);
  for (const Known& k : contracts) {
    CAPTURE(k.symbol);
    const double side = k.dollars_a_tick / 2 + k.commission;  // half a tick of spread
    const DayResult nothing = run_day(k.symbol, constant(), {}, always_long);
    REQUIRE(nothing.gross == 0);
    REQUIRE(nothing.net == Approx(-2 * side));
    const DayResult flat = run_day(k.symbol, ramp(), {}, [](std::int64_t) { return is_flat; });
    REQUIRE(flat.net == 0);
    REQUIRE(flat.costs == 0);
    const DayResult held = run_day(k.symbol, ramp(), {}, always_long);
    REQUIRE(held.gross == Approx(moves * k.dollars_a_tick));
    REQUIRE(held.net == Approx(moves * k.dollars_a_tick - 2 * side));
    const DayResult against = run_day(k.symbol, ramp(), {}, [](std::int64_t) { return is_short; });
    REQUIRE(against.gross == Approx(-moves * k.dollars_a_tick));
    REQUIRE(against.net == Approx(-moves * k.dollars_a_tick - 2 * side));
    // Right every time: one contract in, ten turns of two, one out.
    const DayResult followed =
        run_day(k.symbol, alternating(), {}, [](std::int64_t row) { return row % 2 ? is_short : is_long; });
    REQUIRE(followed.contracts == 2 * moves);
    REQUIRE(followed.gross == Approx(moves * k.dollars_a_tick));
    REQUIRE(followed.net == Approx(moves * k.dollars_a_tick - 2 * moves * side));
  }
}

TEST_CASE("money: slippage and spread are paid in ticks, the commission a contract and side") {
  for (const Known& k : contracts) {
    CAPTURE(k.symbol);
    const auto costs = [&](const std::vector<std::string>& terms) {
      return run_day(k.symbol, ramp(), terms, always_long).costs;
    };
    REQUIRE(costs({"contract.slippage_ticks=2"}) == Approx(2 * (2.5 * k.dollars_a_tick + k.commission)));
    REQUIRE(costs({"contract.spread_ticks=3"}) == Approx(2 * (1.5 * k.dollars_a_tick + k.commission)));
    REQUIRE(costs({"contract.spread_ticks=0", "contract.commission=1.5"}) == Approx(3));
    REQUIRE(costs({"contract.spread_ticks=0", "contract.commission=0"}) == Approx(0).margin(1e-6));
  }
}

TEST_CASE("money: what is open at the end of the data is closed at its last price, and paid for") {
  Path closes = constant();
  closes.back() = 8;
  const DayResult last =
      run_day("ES", closes, {}, [](std::int64_t row) { return row == rows - 2 ? is_long : is_flat; });
  REQUIRE(last.gross == Approx(8 * 12.5));
  REQUIRE(last.costs == Approx(2 * (6.25 + 2.25)));
  REQUIRE(last.contracts == 2);
}

TEST_CASE("money: net is gross less the cost of every contract traded, for random trading on every device") {
  for (const std::string& name : present_devices()) {
    CAPTURE(name);
    const auto training = synthetic_training(name, market::MarketKind::walk,
                                             {"environment.max_contracts=4", "contract.slippage_ticks=0.5"});
    dqn::Trainer& trainer = training->trainer;
    const dqn::Account& account = trainer.account();
    const auto random = dqn::baselines(account.tape, account.positions, 1, seed()).at(2);
    REQUIRE(random.name == "random");
    const auto sessions = trainer.test().run(random.policy);
    const dqn::Performance p = dqn::measure(sessions, account);
    double costs = 0, contracts_traded = 0;
    std::int64_t trades = 0;
    for (const dqn::SessionRecord& session : sessions) {
      double position = 0;
      for (std::size_t k = 0; k <= session.action.size(); ++k) {
        const bool closing = k == session.action.size();
        const double wanted =
            closing ? 0 : static_cast<double>(account.positions[static_cast<std::size_t>(session.action[k])]);
        contracts_traded += std::abs(wanted - position);
        costs += std::abs(wanted - position) * (50 * (0.125 + 0.125) + 2.25);
        trades += wanted != position;
        position = wanted;
      }
    }
    REQUIRE(costs > 1000);
    REQUIRE(p.costs == Approx(costs).epsilon(1e-5));
    REQUIRE(p.net == Approx(p.gross - costs).epsilon(1e-5));
    REQUIRE(p.contracts == contracts_traded);
    REQUIRE(p.trades == trades);
  }
}

namespace {

/// Books one second apart, eight sessions of twelve, mid always at 100 points; the spread, in ticks of ES, is `spread`
/// of the row of a session.
market::Books books_of(const std::function<std::int64_t(std::int64_t)>& spread) {
  market::Books books;
  books.levels = 1;
  books.schema = "mbp-1";
  books.source = "test";
  books.symbols[1] = "ESH4";
  for (std::int64_t day = 0; day < days; ++day)
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t half = spread(i) * 125'000'000, mid = 100 * market::price_scale;
      const std::int64_t ts = market::ns_per_day * (day + 1) + i * market::ns_per_second;
      books.level.push_back({mid - half, mid + half, 5, 7, 1, 1});
      books.ts_event.push_back(ts);
      books.ts_recv.push_back(ts);
      books.trade_price.push_back(market::no_price);
      books.buy_volume.push_back(0);
      books.sell_volume.push_back(0);
      books.instrument.push_back(1);
    }
  return books;
}

dqn::LoadedMarket book_market(const market::Books& books, const profile::Profile& p) {
  dqn::LoadedMarket m;
  m.contract = market::contract_for("ES");
  m.tape = market::make_book_tape(books, m.contract, {});
  m.splits = market::make_splits(m.tape, 0.7, 0.15, 0, rows);
  m.features = market::make_features(m.tape, m.splits.train, 5);
  m.tables = dqn::make_market_tables(m.tape, m.features, m.splits, p.contract.slippage_ticks);
  return m;
}

}  // namespace

TEST_CASE("money: a book's own spread is paid, that of the book that fills") {
  const auto spread = [](std::int64_t i) { return i % 4 + 1; };
  const profile::Profile profile = money_profile("ES", {"contract.spread_ticks=100", "contract.slippage_ticks=1"});
  Training training(profile, "host", book_market(books_of(spread), profile));
  // Bought after row 4: filled by row 5, whose spread is 2 ticks. Sold after row 6: filled by row 7, 4 ticks.
  const dqn::Performance inside =
      run_policy(training, [](std::int64_t row) { return row == 4 || row == 5 ? is_long : is_flat; });
  const auto n = static_cast<double>(inside.sessions);
  REQUIRE(inside.gross == 0);
  REQUIRE(inside.costs / n == Approx((1 + 1) * 12.5 + 2.25 + (2 + 1) * 12.5 + 2.25));
  // Bought after row 10: filled by row 11, the last, 4 ticks; closed there at the same spread.
  const dqn::Performance at_end = run_policy(training, [](std::int64_t row) { return row == 10 ? is_long : is_flat; });
  REQUIRE(at_end.costs / n == Approx(2 * ((2 + 1) * 12.5 + 2.25)));
}
