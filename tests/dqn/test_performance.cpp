#include "core/dqn/performance.h"

#include <cmath>
#include <limits>

#include "core/market/civil_time.h"
#include "tests/catch.h"

using namespace foxhunt;
using market::ns_per_day;
using market::ns_per_hour;
using market::ns_per_minute;

namespace {

constexpr std::int64_t point = market::price_scale;

/// A tape of `sessions` sessions, one every `every` ns, of `rows` rows `interval` apart. Prices 100 points, ES.
market::Tape calendar(std::int64_t sessions, std::int64_t rows, std::int64_t every = ns_per_day,
                      std::int64_t interval = ns_per_minute) {
  market::Tape tape;
  tape.contract = market::contract_for("ES");
  for (std::int64_t s = 0; s < sessions; ++s)
    for (std::int64_t i = 0; i < rows; ++i) {
      tape.ts.push_back(14 * ns_per_hour + s * every + (i + 1) * interval);
      tape.session.push_back(static_cast<std::int32_t>(s));
    }
  tape.mid.assign(tape.rows(), 100 * point);
  tape.fill_mid = tape.mid;
  return tape;
}

/// No gaps; every fill costs $2 a contract.
dqn::MarketTables tables_of(const market::Tape& tape) {
  dqn::MarketTables tables;
  tables.open_gap.assign(tape.rows(), 0);
  tables.hold_gap = tables.open_gap;
  tables.cost.assign(tape.rows(), 2);
  return tables;
}

dqn::SessionRecord record(std::int64_t first_row, std::vector<double> net, std::vector<std::int32_t> action) {
  dqn::SessionRecord session;
  session.first_row = first_row;
  session.net = std::move(net);
  session.action = std::move(action);
  return session;
}

}  // namespace

TEST_CASE("performance: money, drawdown, ratios and actions of two sessions by hand") {
  const market::Tape tape = calendar(2, 4);
  const dqn::MarketTables tables = tables_of(tape);
  const dqn::Account account{tape, tables, {-1, 0, 1}, 1, 1000, 256};
  dqn::SessionRecord rising = record(0, {10, 20, -5}, {0, 2, 2}), falling = record(4, {-10, -5, 5}, {1, 1, 2});
  rising.gross = 30;
  rising.trades = 3;
  falling.gross = -6;
  falling.trades = 2;
  const dqn::SessionRecord sessions[] = {rising, falling};
  const dqn::Performance p = dqn::measure(sessions, account);
  REQUIRE(p.net == 15);
  REQUIRE(p.gross == 24);
  REQUIRE(p.costs == 9);
  REQUIRE(p.trades == 5);
  REQUIRE(p.steps == 6);
  REQUIRE(p.sessions == 2);
  REQUIRE(p.periods == 2);
  // Peak 30 after two steps, then -5, -10, -5: down to 10.
  REQUIRE(p.max_drawdown == 20);
  REQUIRE(p.drawdown_share == 0.02);
  // Session gains 25 and -10: mean 7.5, sample deviation 35 / sqrt(2), root mean square of losses 10 / sqrt(2).
  REQUIRE(p.sharpe == Approx(7.5 / (35 / std::sqrt(2.0)) * 16));
  REQUIRE(p.sortino == Approx(7.5 / (10 / std::sqrt(2.0)) * 16));
  REQUIRE(p.actions == std::vector<std::int64_t>{1, 2, 3});
  REQUIRE(p.action_entropy ==
          Approx(-(1 / 6.0) * std::log(1 / 6.0) - (2 / 6.0) * std::log(2 / 6.0) - (3 / 6.0) * std::log(3 / 6.0)));
}

TEST_CASE("performance: round trips, holding, exposure and turnover of one session by hand") {
  market::Tape tape = calendar(1, 9);
  dqn::MarketTables tables = tables_of(tape);
  tables.open_gap[4] = 30;  // $ a contract from the mid of row 4 to its fill
  tape.fill_mid[4] = 110 * point;
  tape.mid[8] = -90 * point;
  const dqn::Account account{tape, tables, {-2, 0, 1, 2}, 2, 1000, 252};
  // Flat, long 2 at row 1, long 1 at row 2, turned to short 2 at row 3, to long 1 at row 4, closed at row 8.
  const auto session = record(0, {0, 50, -49, 65, -60, 1, 1, 1}, {1, 3, 2, 0, 2, 2, 2, 2});
  const dqn::Performance p = dqn::measure(std::span(&session, 1), account);
  // Long: gains 50 - 49, less its way out at row 3, $2. No hit.
  // Short: the rest of that step, 67; at row 4 it loses 2 * 30 up to the fill and pays 2 * 2: 3. A hit.
  // Long again: -60 + 64 = 4, then 3. A hit.
  REQUIRE(p.round_trips == 3);
  REQUIRE(p.hit_rate == Approx(2 / 3.0));
  REQUIRE(p.mean_holding_steps == Approx((2 + 1 + 4) / 3.0));
  REQUIRE(p.mean_holding_minutes == Approx((2 + 1 + 4) / 3.0));
  REQUIRE(p.time_in_market == Approx(7 / 8.0));
  REQUIRE(p.exposure == Approx((2 + 1 + 2 + 4 * 1) / 2.0 / 8));
  REQUIRE(p.contracts == 2 + 1 + 3 + 3 + 1);
  REQUIRE(p.notional == Approx(50.0 * (2 * 100 + 1 * 100 + 3 * 100 + 3 * 110 + 1 * 90)));
}

TEST_CASE("performance: a position closed on its way is one round trip, and a gain of nothing is no hit") {
  const market::Tape tape = calendar(1, 6);
  const dqn::MarketTables tables = tables_of(tape);
  const dqn::Account account{tape, tables, {-1, 0, 1}, 1, 1000, 252};
  const auto session = record(0, {4, -4, 0, 3, 0}, {2, 1, 1, 0, 1});
  const dqn::Performance p = dqn::measure(std::span(&session, 1), account);
  REQUIRE(p.round_trips == 2);
  REQUIRE(p.hit_rate == 0.5);
  REQUIRE(p.mean_holding_steps == 1);
  REQUIRE(p.contracts == 4);
}

TEST_CASE("performance: where there is nothing to take a mean of there is no number") {
  const market::Tape tape = calendar(2, 2);
  const dqn::MarketTables tables = tables_of(tape);
  const dqn::Account account{tape, tables, {0, 1}, 1, 1000, 252};
  const auto one = record(0, {1}, {0});
  const dqn::Performance lonely = dqn::measure(std::span(&one, 1), account);
  REQUIRE(std::isnan(lonely.sharpe));
  REQUIRE(std::isnan(lonely.sortino));
  REQUIRE(std::isnan(lonely.hit_rate));
  REQUIRE(lonely.time_in_market == 0);
  const dqn::Performance none = dqn::measure({}, account);
  REQUIRE(none.net == 0);
  REQUIRE(none.action_entropy == 0);
  REQUIRE(std::isnan(none.exposure));
}

TEST_CASE("performance: flat has ratios of zero, gains without risk have infinite ones") {
  const market::Tape tape = calendar(2, 2);
  const dqn::MarketTables tables = tables_of(tape);
  const dqn::Account account{tape, tables, {0, 1}, 1, 1000, 252};
  const auto of = [&](double first, double second) {
    const dqn::SessionRecord sessions[] = {record(0, {first}, {1}), record(2, {second}, {1})};
    return dqn::measure(sessions, account);
  };
  REQUIRE(of(0, 0).sharpe == 0);
  REQUIRE(of(0, 0).sortino == 0);
  REQUIRE(of(1, 2).sortino == std::numeric_limits<double>::infinity());
  REQUIRE(of(1, 2).sharpe == Approx(1.5 / std::sqrt(0.5) * std::sqrt(252.0)));
  REQUIRE(of(-3, -3).sharpe == -std::numeric_limits<double>::infinity());
}

TEST_CASE("performance: a year holds as many periods as the data's own calendar, given four weeks and twenty") {
  REQUIRE(dqn::periods_per_year(calendar(40, 10)) == Approx(365.2425));
  REQUIRE(dqn::periods_per_year(calendar(40, 10, 7 * ns_per_day)) == Approx(365.2425 / 7));
  // The same sessions in longer bars.
  REQUIRE(dqn::periods_per_year(calendar(40, 3, ns_per_day, 60 * ns_per_minute)) == Approx(365.2425));
  // Two sessions a day are two.
  REQUIRE(dqn::periods_per_year(calendar(60, 3, ns_per_day / 2)) == Approx(2 * 365.2425));
  // Too few sessions, or too short a time: the usual year.
  REQUIRE(dqn::periods_per_year(calendar(29, 10)) == Approx(365.2425));
  REQUIRE(dqn::periods_per_year(calendar(28, 10)) == 252);
  REQUIRE(dqn::periods_per_year(calendar(19, 10, 7 * ns_per_day)) == 252);
  REQUIRE(dqn::periods_per_year({}) == 252);
}

TEST_CASE("performance: a session longer than a day counts by its UTC days, in bars of any length") {
  // Two days and a half from 14:00 on, without a pause: four UTC days.
  for (const std::int64_t minutes : {1, 30}) {
    CAPTURE(minutes);
    const std::int64_t rows = 60 * 60 / minutes;
    const market::Tape tape = calendar(1, rows, ns_per_day, minutes * ns_per_minute);
    const dqn::MarketTables tables = tables_of(tape);
    const dqn::Account account{tape, tables, {0, 1}, 1, 1000, 365};
    // One dollar an hour.
    const std::vector<double> net(static_cast<std::size_t>(rows - 1), static_cast<double>(minutes) / 60);
    const auto session = record(0, net, std::vector<std::int32_t>(net.size(), 1));
    const dqn::Performance p = dqn::measure(std::span(&session, 1), account);
    REQUIRE(p.sessions == 1);
    REQUIRE(p.periods == 4);
    // 10 hours (less the first bar), 24, 24, 2.
    const double first = 10 - static_cast<double>(minutes) / 60, mean = (first + 50) / 4;
    const double squares = (first - mean) * (first - mean) + 2 * (24 - mean) * (24 - mean) + (2 - mean) * (2 - mean);
    REQUIRE(p.sharpe == Approx(mean / std::sqrt(squares / 3) * std::sqrt(365.0)));
  }
  // Forty daily bars, which are one session: a bar known at midnight belongs to the day that ends.
  market::Tape daily = calendar(1, 40, ns_per_day, ns_per_day);
  REQUIRE(dqn::periods_per_year(daily) == Approx(365.2425));
  for (std::int64_t& ts : daily.ts) ts -= 14 * ns_per_hour;
  REQUIRE(dqn::periods_per_year(daily) == Approx(365.2425));
}
