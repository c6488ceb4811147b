#include "core/market/tape.h"

#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

const Contract es = contract_for("ES");

Tape tape_of(std::initializer_list<Bar> bars) { return make_tape(bars_of(bars), es, {}); }

}  // namespace

TEST_CASE("tape: a bar is known at its close and filled at the next open") {
  const Tape tape = tape_of({minute_bar(0, 100, 101), minute_bar(1, 102, 103), minute_bar(2, 104, 105)});
  CHECK(tape.ts[0] == monday + ns_per_minute);
  CHECK(tape.mid == std::vector<std::int64_t>{101 * point, 103 * point, 105 * point});
  CHECK(tape.fill_mid == std::vector<std::int64_t>{102 * point, 104 * point, 105 * point});
  CHECK(tape.half_spread == std::vector<std::int64_t>(3, 125'000'000));
  CHECK(tape.session == std::vector<std::int32_t>{0, 0, 0});
  CHECK(tape.flags == std::vector<std::uint8_t>{0, 0, last_of_session});
  CHECK(tape.bars.size() == tape.rows());
}

TEST_CASE("tape: a short pause is a gap, a longer one ends the session") {
  // 30 minutes without a bar: still the session. 31: another.
  const Tape tape = tape_of({minute_bar(0, 1, 2), minute_bar(31, 3, 4), minute_bar(63, 5, 6)});
  CHECK(tape.session == std::vector<std::int32_t>{0, 0, 1});
  CHECK(tape.flags == std::vector<std::uint8_t>{0, gap_before | last_of_session, last_of_session});
  CHECK(tape.fill_mid[0] == 3 * point);
  CHECK(tape.fill_mid[1] == tape.mid[1]);
}

TEST_CASE("tape: a roll ends the session and fills nothing across it") {
  const Tape tape =
      tape_of({minute_bar(0, 100, 101, 1, 7), minute_bar(1, 102, 103, 1, 7), minute_bar(2, 200, 201, 1, 8)});
  CHECK(tape.session == std::vector<std::int32_t>{0, 0, 1});
  CHECK(tape.flags == std::vector<std::uint8_t>{0, roll | last_of_session, last_of_session});
  CHECK(tape.fill_mid[1] == 103 * point);
}

TEST_CASE("tape: the session gap adapts to long bars") {
  CHECK(effective_session_gap(ns_per_minute, {}) == 30 * ns_per_minute);
  CHECK(effective_session_gap(15 * ns_per_minute, {}) == 30 * ns_per_minute);
  CHECK(effective_session_gap(ns_per_hour, {}) == 10 * ns_per_hour);
  Bars daily;
  for (const int day : {0, 1, 2, 3, 4, 7, 8, 10}) {  // a weekend and a holiday
    Bar bar = minute_bar(0, 5, 6);
    bar.ts_open = monday + day * ns_per_day;
    append(daily, bar);
  }
  daily.interval = ns_per_day;
  const Tape tape = make_tape(daily, es, {});
  CHECK(tape.session.back() == 0);
  CHECK(tape.flags == std::vector<std::uint8_t>{0, 0, 0, 0, 0, gap_before, 0, gap_before | last_of_session});
}

TEST_CASE("tape: the pause that ends a session is an option") {
  const Bars bars = bars_of({minute_bar(0, 1, 2), minute_bar(6, 3, 4)});
  CHECK(make_tape(bars, es, {5 * ns_per_minute}).session.back() == 0);
  CHECK(make_tape(bars, es, {4 * ns_per_minute}).session.back() == 1);
}

TEST_CASE("tape: bars that are no tape are refused") {
  const auto refused = [](const Bars& bars) { return error_of(ExitCode::data, [&] { make_tape(bars, es, {}); }); };
  require_says(refused(bars_of({})), {"test", "no bar"});
  require_says(refused(bars_of({minute_bar(1, 1, 2), minute_bar(0, 1, 2)})),
               {"bar 1 at 2024-01-08 00:00:00", "ascend"});
  require_says(refused(bars_of({minute_bar(0, 1, 2), minute_bar(0, 1, 2)})), {"before bar 0"});
  Bars overlapping = bars_of({minute_bar(0, 1, 2), minute_bar(1, 1, 2)});
  overlapping.interval = 2 * ns_per_minute;  // the second bar opens before the first is known
  require_says(refused(overlapping), {"has ended"});
  Bars ragged = bars_of({minute_bar(0, 1, 2)});
  ragged.volume.clear();
  require_says(refused(ragged), {"differ in length"});
  Bars timeless = bars_of({minute_bar(0, 1, 2)});
  timeless.interval = 0;
  require_says(refused(timeless), {"interval"});
  Bars late = bars_of({minute_bar(0, 1, 2)});
  late.ts_open[0] = INT64_MAX - 5;
  require_says(refused(late), {"out of range"});
}

}  // namespace foxhunt::market
