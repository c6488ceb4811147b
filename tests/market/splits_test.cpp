#include "core/market/synth.h"
#include "tests/market/market_test.h"

namespace foxhunt::market {
namespace {

/// Sessions of the given numbers of rows.
Tape sessions_of(std::initializer_list<std::int64_t> lengths) {
  Bars bars;
  std::int64_t minute = 0;
  for (const std::int64_t length : lengths) {
    for (std::int64_t i = 0; i < length; ++i) append(bars, minute_bar(minute++, 5, 6));
    minute += 60;
  }
  bars.interval = ns_per_minute;
  bars.source = "file";
  return make_tape(bars, contract_for("ES"), {});
}

bool starts_session(const Tape& tape, std::int64_t row) {
  const auto i = static_cast<std::size_t>(row);
  return tape.session[i] != tape.session[i - 1];
}

}  // namespace

TEST_CASE("splits: chronological, at session starts, with purged rows between") {
  const Tape tape = make_tape(synthesize({}), contract_for("ES"), {});
  const auto rows = static_cast<std::int64_t>(tape.rows());
  const Splits splits = make_splits(tape, 0.7, 0.15, 60, 1);
  CHECK(splits.train.begin == 0);
  CHECK(splits.validation.begin == splits.train.end + 60);
  CHECK(splits.test.begin == splits.validation.end + 60);
  CHECK(splits.test.end == rows);
  CHECK(starts_session(tape, splits.train.end));
  CHECK(starts_session(tape, splits.validation.end));
  CHECK(std::abs(splits.train.end - rows * 7 / 10) < 210);  // half a session
  CHECK(std::abs(splits.validation.end - rows * 85 / 100) < 210);
}

TEST_CASE("splits: one session for each is enough") {
  const Splits splits = make_splits(sessions_of({10, 80, 10}), 0.4, 0.3, 0, 1);
  CHECK(splits.train.end == 10);
  CHECK(splits.validation.begin == 10);
  CHECK(splits.validation.end == 90);
  CHECK(splits.test.begin == 90);
}

TEST_CASE("splits: inside a session where there are too few, or where one is too short") {
  for (const Tape& tape : {sessions_of({100}), sessions_of({50, 50}), sessions_of({98, 1, 1})}) {
    const Splits splits = make_splits(tape, 0.6, 0.2, 5, 10);
    CHECK(splits.train.end == 60);
    CHECK(splits.validation.begin == 65);
    CHECK(splits.validation.end == 80);
    CHECK(splits.test.begin == 85);
    CHECK(splits.test.end == 100);
  }
}

TEST_CASE("splits: one that is too short is named") {
  const Tape tape = sessions_of({100});
  const auto refused = [&](double train, double validation, std::int64_t purge) {
    return error_of(ExitCode::data, [&] { make_splits(tape, train, validation, purge, 20); });
  };
  require_says(refused(0.1, 0.4, 0),
               {"file", "train split has 10", "100 rows", "20 are needed", "data.train_fraction"});
  require_says(refused(0.5, 0.1, 0), {"validation split has 10", "data.validation_fraction"});
  require_says(refused(0.5, 0.4, 0), {"test split has 10"});
  require_says(refused(0.5, 0.25, 6), {"validation split has 19", "data.purge_rows is 6"});
  require_says(refused(0.5, 0.25, 1000), {"validation split has 0"});
}

TEST_CASE("splits: fractions that leave no room are refused") {
  const Tape tape = sessions_of({100});
  for (const auto& [train, validation] : {std::pair{0.0, 0.5}, {0.5, 0.0}, {0.5, 0.5}, {0.9, 0.2}, {std::nan(""), 0.2}})
    require_says(error_of(ExitCode::usage, [&, t = train, v = validation] { make_splits(tape, t, v, 0, 1); }),
                 {"data.train_fraction", "data.validation_fraction"});
  require_says(error_of(ExitCode::usage, [&] { make_splits(tape, 0.5, 0.2, -1, 1); }), {"data.purge_rows"});
}

}  // namespace foxhunt::market
