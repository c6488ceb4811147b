#include "core/market/longer_bars.h"

#include <cmath>
#include <tuple>

#include "tests/market/session_fixture.h"

namespace foxhunt::market {
namespace {

const Contract es = contract_for("ES");
constexpr std::int64_t five = 5 * ns_per_minute;

/// UTC times at which the bars of a tape open and are known, as text.
std::vector<std::string> spans(const Tape& tape) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < tape.rows(); ++i)
    list.push_back(format_utc(tape.bars.ts_open[i]).substr(11, 5) + "-" + format_utc(tape.ts[i]).substr(11, 5));
  return list;
}

using Spans = std::vector<std::string>;

}  // namespace

TEST_CASE("resample: open, high, low, close, volume and further columns of the rows") {
  const double none = std::nan("");
  Bars bars;
  for (std::int64_t i = 0; i < 10; ++i) append(bars, minute_bar(i, 100 + i, 103 - i, static_cast<std::uint64_t>(i)));
  bars.interval = ns_per_minute;
  bars.extra = {{"mine", {1, 2, none, none, none, none, none, none, none, none}}};
  const Tape tape = resample(make_tape(bars, es, {}), five);
  REQUIRE(tape.rows() == 2);
  CHECK(tape.bars.interval == five);
  CHECK(tape.bars.open == std::vector<std::int64_t>{100 * point, 105 * point});
  CHECK(tape.bars.high == std::vector<std::int64_t>{104 * point, 109 * point});
  CHECK(tape.bars.low == std::vector<std::int64_t>{99 * point, 94 * point});
  CHECK(tape.bars.close == std::vector<std::int64_t>{99 * point, 94 * point});
  CHECK(tape.bars.volume == std::vector<std::uint64_t>{10, 35});
  CHECK(tape.bars.extra[0].values[0] == 2);
  CHECK(std::isnan(tape.bars.extra[0].values[1]));
  CHECK(tape.ts == std::vector<std::int64_t>{monday + five, monday + 2 * five});
  CHECK(tape.mid == tape.bars.close);
  CHECK(tape.fill_mid == std::vector<std::int64_t>{105 * point, 94 * point});
  CHECK(tape.flags == std::vector<std::uint8_t>{0, last_of_session});
  CHECK(note_with(tape, "resample").find("10 rows were put into 2 bars of 5 minutes") == 0);
}

TEST_CASE("resample: a bar with minutes missing is known when its time is over, a session's last at its last row") {
  Bars bars;
  trade(bars, "2024-01-08 15:02", "2024-01-08 15:04");  // begins late, and its last minute is missing
  trade(bars, "2024-01-08 15:12", "2024-01-08 15:13");  // after a whole bar without a row
  trade(bars, "2024-01-08 15:19", "2024-01-08 15:22");
  const Tape tape = resample(make_tape(bars, es, {}), five);
  CHECK(spans(tape) == Spans{"15:00-15:05", "15:10-15:15", "15:15-15:20", "15:20-15:22"});
  CHECK(tape.flags == std::vector<std::uint8_t>{0, gap_before, 0, last_of_session});
}

TEST_CASE("resample: no bar holds rows of two sessions or of two contracts") {
  Bars bars;
  trade(bars, "2024-01-08 14:57", "2024-01-08 15:02", 100, 1);
  trade(bars, "2024-01-08 15:02", "2024-01-08 15:07", 200, 2);  // a roll within five minutes
  trade(bars, "2024-01-08 22:58", "2024-01-08 23:02", 300, 2);  // over the change of the trading date
  const Tape rows = make_tape(bars, es, {}), tape = resample(rows, five);
  CHECK(spans(tape) == Spans{"14:55-15:00", "15:00-15:02", "15:00-15:05", "15:05-15:07", "22:55-23:00", "23:00-23:02"});
  CHECK(tape.instrument == std::vector<std::uint32_t>{1, 1, 2, 2, 2, 2});
  CHECK(tape.session == std::vector<std::int32_t>{0, 0, 1, 1, 2, 3});
  CHECK(tape.flags ==
        std::vector<std::uint8_t>{0, last_of_session | roll, 0, last_of_session, last_of_session, last_of_session});
  CHECK(tape.fill_mid[1] == 100 * point);
  CHECK(std::is_sorted(tape.ts.begin(), tape.ts.end()));
}

TEST_CASE(
    "resample: bars are counted from the opening by the exchange's clock, summer and winter, else from UTC midnight") {
  const std::int64_t four_hours = 4 * ns_per_hour;
  for (const auto& [from, to, first] : {std::tuple{"2024-03-07 23:00", "2024-03-08 22:00", "23:00-03:00"},
                                        {"2024-03-10 22:00", "2024-03-11 21:00", "22:00-02:00"}}) {
    Bars bars;
    trade(bars, from, to);
    const Tape tape = resample(make_tape(bars, es, {}), four_hours);
    INFO(from);
    REQUIRE(tape.rows() == 6);
    CHECK(spans(tape)[0] == first);
    CHECK(tape.ts.back() == utc(to));  // the last one lacks its last hour
    CHECK(spans(resample(make_tape(bars, contract_for("ZZZ"), {}), four_hours))[0] == "20:00-00:00");
  }
  Bars bars;
  trade(bars, "2024-03-08 14:30", "2024-03-08 21:00");
  const Tape tape = resample(make_tape(bars, contract_for("ZZZ"), {30 * ns_per_minute, "us-equities"}), ns_per_hour);
  CHECK(spans(tape).front() == "14:30-15:30");
  CHECK(spans(tape).back() == "20:30-21:00");
}

TEST_CASE("resample: the market that is left is a tape like another") {
  Bars bars;
  trade(bars, "2024-01-08 14:30", "2024-01-08 20:00");
  const Tape rows = make_tape(bars, es, {}), tape = resample(rows, 15 * ns_per_minute);
  CHECK(tape.calendar == rows.calendar);
  CHECK(tape.contract.symbol == "ES");
  CHECK(tape.half_spread == std::vector<std::int64_t>(22, es.tick_size / 2));
  std::uint64_t volume = 0;
  for (const std::uint64_t v : tape.bars.volume) volume += v;
  CHECK(volume == 10 * rows.rows());
}

TEST_CASE("resample: lengths that rows do not add up to are refused") {
  Bars bars;
  trade(bars, "2024-01-08 14:30", "2024-01-08 15:00");
  const Tape tape = make_tape(bars, es, {});
  for (const std::int64_t length : {ns_per_minute, std::int64_t{0}, 3 * ns_per_minute / 2})
    require_says(error_of(ExitCode::usage, [&] { resample(tape, length); }), {"data.resample_minutes", "60 s"});
  bars.interval = ns_per_day;
  bars.ts_open.resize(1), bars.open.resize(1), bars.high.resize(1), bars.low.resize(1), bars.close.resize(1);
  bars.volume.resize(1), bars.instrument.resize(1);
  require_says(error_of(ExitCode::usage, [&] { resample(make_tape(bars, es, {}), ns_per_hour); }), {"86400 s"});
}

}  // namespace foxhunt::market
