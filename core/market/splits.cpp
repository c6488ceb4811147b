#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.h"
#include "core/market/tape.h"

namespace foxhunt::market {
namespace {

/// First rows of validation and of test, before purging.
struct Boundaries {
  std::int64_t validation, test;
};

std::vector<std::int64_t> session_starts(const Tape& tape) {
  std::vector<std::int64_t> starts;
  for (std::size_t i = 0; i < tape.rows(); ++i)
    if (i == 0 || tape.session[i] != tape.session[i - 1]) starts.push_back(static_cast<std::int64_t>(i));
  return starts;
}

std::ptrdiff_t nearest(const std::vector<std::int64_t>& starts, std::int64_t row, std::ptrdiff_t lowest,
                       std::ptrdiff_t highest) {
  const auto distance = [&](std::int64_t start) { return std::abs(start - row); };
  const auto at = std::min_element(starts.begin() + lowest, starts.begin() + highest + 1,
                                   [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
  return at - starts.begin();
}

/// The session starts nearest to the wanted rows, with a session at least in every split.
std::optional<Boundaries> on_sessions(const Tape& tape, const Boundaries& wanted) {
  const auto starts = session_starts(tape);
  const auto sessions = static_cast<std::ptrdiff_t>(starts.size());
  if (sessions < 3) return std::nullopt;
  const std::ptrdiff_t validation = nearest(starts, wanted.validation, 1, sessions - 2);
  const std::ptrdiff_t test = nearest(starts, wanted.test, validation + 1, sessions - 1);
  return Boundaries{starts[static_cast<std::size_t>(validation)], starts[static_cast<std::size_t>(test)]};
}

Splits purged(const Boundaries& at, std::int64_t rows, std::int64_t purge_rows) {
  return {{0, at.validation},
          {std::min(at.validation + purge_rows, at.test), at.test},
          {std::min(at.test + purge_rows, rows), rows}};
}

std::int64_t fewest_rows(const Splits& splits) {
  return std::min({splits.train.rows(), splits.validation.rows(), splits.test.rows()});
}

void check_rows(const Tape& tape, const Splits& splits, std::int64_t purge_rows, std::int64_t min_rows) {
  const auto check = [&](const Split& split, const char* name, const char* fraction) {
    if (split.rows() < min_rows)
      throw Error(
          ExitCode::data,
          fmt::format("{}: the {} split has {} of the tape's {} rows, {} are needed (data.purge_rows is {}); add data, "
                      "or change {}",
                      tape.bars.source, name, split.rows(), tape.rows(), min_rows, purge_rows, fraction));
  };
  check(splits.train, "train", "data.train_fraction");
  check(splits.validation, "validation", "data.validation_fraction");
  check(splits.test, "test", "data.train_fraction and data.validation_fraction, which leave the rest to it");
}

}  // namespace

Splits make_splits(const Tape& tape, double train_fraction, double validation_fraction, std::int64_t purge_rows,
                   std::int64_t min_rows) {
  if (!(train_fraction > 0 && validation_fraction > 0 && train_fraction + validation_fraction < 1))
    throw Error(ExitCode::usage,
                fmt::format("data.train_fraction {} and data.validation_fraction {} must be above 0 and leave "
                            "room for a test split below 1",
                            train_fraction, validation_fraction));
  if (purge_rows < 0 || min_rows < 1)
    throw Error(ExitCode::usage, fmt::format("data.purge_rows must be 0 or more, got {}", purge_rows));
  const auto rows = static_cast<std::int64_t>(tape.rows());
  const auto part = [&](double fraction) { return std::llround(fraction * static_cast<double>(rows)); };
  const Boundaries wanted{part(train_fraction), part(train_fraction + validation_fraction)};
  if (const auto at = on_sessions(tape, wanted)) {
    const Splits splits = purged(*at, rows, purge_rows);
    if (fewest_rows(splits) >= min_rows) return splits;
  }
  // Too few sessions, or one too short to be a split of its own: cut inside one.
  const Splits splits = purged(wanted, rows, purge_rows);
  check_rows(tape, splits, purge_rows, min_rows);
  return splits;
}

}  // namespace foxhunt::market
