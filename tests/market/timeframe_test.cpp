#include "core/market/timeframe_features.h"

#include <cmath>

#include "core/market/book_tape.h"
#include "core/market/synth.h"
#include "tests/market/session_fixture.h"

namespace foxhunt::market {
namespace {

const Contract es = contract_for("ES");

/// The column of a name such as "return_5m", in units of the row's scale.
Series column(const Tape& tape, std::int64_t minutes, const std::string& name) {
  const auto infos = timeframe_feature_infos(minutes);
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return timeframe_features(tape, FeatureInputs(tape), minutes)[i];
  FAIL("no feature " << name);
  return {};
}

/// The same in points.
std::vector<double> in_points(const Tape& tape, std::int64_t minutes, const std::string& name) {
  Series values = column(tape, minutes, name);
  const FeatureInputs in(tape);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::round(values[i] * in.scale[i] * 1e6) / 1e6;
  return values;
}

}  // namespace

TEST_CASE("timeframes: a bar of five minutes shows on the row that ends it, not before") {
  Bars bars;
  for (const std::int64_t minute : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
    append(bars, minute_bar(minute, 100 + minute, 101 + minute));
  bars.interval = ns_per_minute;
  const Tape tape = make_tape(bars, es, {});
  // The first bar is 100 to 105: no close before it. The second, 105 to 110, closed five points higher.
  CHECK(in_points(tape, 5, "return_5m") == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5, 5});
  CHECK(in_points(tape, 5, "range_5m") == std::vector<double>{0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5});
  CHECK(column(tape, 5, "close_location_5m") == Series{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(in_points(tape, 2, "return_2m") == std::vector<double>{0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("timeframes: a bar whose last minute is missing shows on the first row after its end") {
  Bars bars;
  for (const std::int64_t minute : {0, 2, 3, 6, 7, 8, 9}) append(bars, minute_bar(minute, 100, 101 + minute));
  bars.interval = ns_per_minute;
  const Tape tape = make_tape(bars, es, {});
  CHECK(in_points(tape, 5, "range_5m") == std::vector<double>{0, 0, 0, 4, 4, 4, 10});
}

TEST_CASE(
    "timeframes: a session's last bar, cut short, shows from the next session, a contract's bars never in another's") {
  Bars bars;
  trade(bars, "2024-01-08 22:55", "2024-01-08 23:00", 100);
  trade(bars, "2024-01-08 23:00", "2024-01-08 23:02", 103);  // another trading date, cut short by a hole
  trade(bars, "2024-01-10 15:00", "2024-01-10 15:05", 110);
  trade(bars, "2024-01-10 15:05", "2024-01-10 15:10", 200, 2);  // a roll
  const Tape tape = make_tape(bars, es, {});
  const std::vector<double> moved = in_points(tape, 5, "return_5m");
  CHECK(moved[6] == 0);   // the bar of 103 is not over
  CHECK(moved[7] == 3);   // it is, as the session is
  CHECK(moved[11] == 7);  // 110 after 103
  CHECK(moved[12] == 0);  // another contract
  CHECK(moved.back() == 0);
  const Series volume = column(tape, 5, "volume_ratio_5m");
  CHECK(volume[7] == Approx(std::log1p(20) - (std::log1p(50) + std::log1p(20)) / 2));
  CHECK(volume[12] == 0);
  CHECK(in_points(tape, 5, "volatility_5m")[11] == Approx(std::sqrt((9 + 49) / 3.0)).epsilon(1e-5));
}

TEST_CASE("timeframes: of books, every row known at the end of the stretch shows the bar as far as it knows it") {
  Books books;
  books.levels = 1;
  const auto add = [&](std::int64_t ts, std::int64_t mid) {
    books.level.push_back({(mid - 1) * point, (mid + 1) * point, 5, 5, 1, 1});
    books.ts_event.push_back(ts), books.ts_recv.push_back(ts), books.trade_price.push_back(no_price);
    books.buy_volume.push_back(1), books.sell_volume.push_back(0), books.instrument.push_back(7);
  };
  add(monday + ns_per_minute, 100), add(monday + 2 * ns_per_minute, 104);
  add(monday + 5 * ns_per_minute, 106), add(monday + 5 * ns_per_minute, 109);  // both at the very end
  add(monday + 6 * ns_per_minute, 120);
  const Tape tape = make_book_tape(books, es, {});
  CHECK(in_points(tape, 5, "range_5m") == std::vector<double>{0, 0, 6, 9, 9});
}

TEST_CASE("timeframes: names follow the catalogue's, before the file's own") {
  Bars bars = synthesize({});
  bars.extra = {{"mine", Series(bars.size(), 1.0)}};
  const Tape tape = make_tape(bars, es, {});
  const FeatureTable table = make_features(tape, {0, 5000}, 5, {5, 30});
  REQUIRE(table.width() == 56 + 10 + 1);
  CHECK(table.names[56] == "return_5m");
  CHECK(table.names[61] == "return_30m");
  CHECK(table.names[66] == "mine");
  CHECK(all_below(table.values, 5.0001));
  for (std::size_t f = 56; f < 66; ++f) CHECK(table.deviation[f] != 1.0);  // each of them varies
  bars.extra[0].name = "range_30m";
  require_says(error_of(ExitCode::usage,
                        [&] {
                          make_features(make_tape(bars, es, {}), {0, 5000}, 5, {5, 30});
                        }),
               {"range_30m"});
  require_says(error_of(ExitCode::usage, [&] { make_features(tape, {0, 5000}, 5, {1}); }), {"features.timeframes"});
}

}  // namespace foxhunt::market
