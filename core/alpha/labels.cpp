#include "core/alpha/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"

namespace foxhunt::alpha {
namespace {

struct NamedSplit {
  const char* name;
  market::Split market::Splits::*rows;
  std::array<LabelCounts, alpha_horizons> LabelBalance::*counts;
};
constexpr NamedSplit named_splits[] = {{"train", &market::Splits::train, &LabelBalance::train},
                                       {"validation", &market::Splits::validation, &LabelBalance::validation},
                                       {"test", &market::Splits::test, &LabelBalance::test}};

/// The rows that the labels of ascending rows look at; none beyond `end`.
class Target {
 public:
  Target(std::span<const std::int64_t> ts, const Horizon& horizon, const market::Split& range)
      : ts_(ts), horizon_(horizon), end_(static_cast<std::size_t>(range.end)) {}

  std::optional<std::size_t> of(std::size_t row) {
    if (horizon_.rows) {
      const std::size_t target = row + static_cast<std::size_t>(horizon_.rows);
      return target < end_ ? std::optional(target) : std::nullopt;
    }
    if (ts_[end_ - 1] - ts_[row] < horizon_.nanoseconds) return std::nullopt;
    at_ = std::max(at_, row);
    while (at_ + 1 < end_ && ts_[at_ + 1] - ts_[row] <= horizon_.nanoseconds) ++at_;
    return at_;
  }

 private:
  std::span<const std::int64_t> ts_;
  Horizon horizon_;
  std::size_t end_, at_ = 0;
};

/// Rows from labels to their targets, to be averaged.
struct Distance {
  std::int64_t sum = 0, labels = 0;
};

std::uint8_t label_of(std::int64_t mid, std::int64_t later, LabelCounts& counts) {
  if (mid == Dataset::no_mid || later == Dataset::no_mid) return ++counts.unlabelled, no_label;
  if (later == mid) return ++counts.tied, no_label;
  return later > mid ? (++counts.up, 1) : (++counts.down, 0);
}

/// Labels of the rows of one session of one split at one horizon.
void label_session(Dataset& data, std::span<const std::int64_t> ts, const market::Split& range, std::size_t h,
                   LabelCounts& counts, Distance& distance) {
  Target target(ts, data.horizons[h], range);
  for (auto row = static_cast<std::size_t>(range.begin); row < static_cast<std::size_t>(range.end); ++row) {
    const std::optional<std::size_t> at = target.of(row);
    const std::int64_t later = at ? data.twice_mid[*at] : Dataset::no_mid;
    data.labels[row * alpha_horizons + h] = label_of(data.twice_mid[row], later, counts);
    if (at) distance.sum += static_cast<std::int64_t>(*at - row), ++distance.labels;
  }
}

/// The longest session within a split, in rows and in time, for a message.
std::string longest_session(const Dataset& data, std::span<const std::int64_t> ts) {
  std::int64_t rows = 0, time = 0;
  for (const NamedSplit& split : named_splits)
    for (const market::Split& range : session_ranges(data, data.splits.*split.rows)) {
      rows = std::max(rows, range.rows());
      time = std::max(time, ts[static_cast<std::size_t>(range.end - 1)] - ts[static_cast<std::size_t>(range.begin)]);
    }
  return fmt::format("{} rows or {:.1f} s", rows, static_cast<double>(time) * 1e-9);
}

/// A split needs labels of both classes: to learn from, and for an AUC.
void check_classes(const Dataset& data, const char* split, const Horizon& horizon, const LabelCounts& counts) {
  if (counts.up > 0 && counts.down > 0) return;
  const std::string labels =
      counts.labelled() == 0
          ? fmt::format("no label ({} ties, {} rows without a mid or with none to compare with)", counts.tied,
                        counts.unlabelled)
          : fmt::format("{} labels, all of them {}", counts.labelled(), counts.up > 0 ? "up" : "down");
  throw Error(ExitCode::data,
              fmt::format("{}: the {} split has {} at the horizon of {}; both classes are needed: add data, move the "
                          "splits (data.train_fraction, data.validation_fraction) or choose another horizon "
                          "(alpha.horizons)",
                          data.source, split, labels, horizon.text()));
}

}  // namespace

void make_labels(Dataset& data, std::span<const std::int64_t> ts) {
  data.labels.assign(data.rows() * alpha_horizons, no_label);
  data.balance = {};
  for (std::size_t h = 0; h < alpha_horizons; ++h) {
    Distance distance;
    for (const NamedSplit& split : named_splits)
      for (const market::Split& range : session_ranges(data, data.splits.*split.rows))
        label_session(data, ts, range, h, (data.balance.*split.counts)[h], distance);
    data.label_rows[h] = distance.labels ? static_cast<double>(distance.sum) / static_cast<double>(distance.labels) : 0;
  }
}

void check_labels(const Dataset& data, std::span<const std::int64_t> ts) {
  for (std::size_t h = 0; h < alpha_horizons; ++h) {
    const Horizon& horizon = data.horizons[h];
    std::int64_t labelled = 0, tied = 0;
    for (const NamedSplit& split : named_splits)
      labelled += (data.balance.*split.counts)[h].labelled(), tied += (data.balance.*split.counts)[h].tied;
    if (labelled + tied == 0)
      throw Error(ExitCode::data,
                  fmt::format("{}: no row has a label at the horizon of {}: its longest session within a split has {}; "
                              "choose a shorter horizon (alpha.horizons) or add data",
                              data.source, horizon.text(), longest_session(data, ts)));
    if (labelled == 0)
      throw Error(
          ExitCode::data,
          fmt::format("{}: at the horizon of {} all {} labels are ties: the mid is always what it was; choose a "
                      "longer horizon (alpha.horizons) or data in which the mid moves",
                      data.source, horizon.text(), tied));
    for (const NamedSplit& split : named_splits)
      check_classes(data, split.name, horizon, (data.balance.*split.counts)[h]);
  }
}

std::vector<std::string> balance_lines(const Dataset& data) {
  std::vector<std::string> lines{fmt::format("{:>12} {:>11} {:>9} {:>9} {:>9} {:>11} {:>12}", "horizon", "split", "up",
                                             "down", "tied", "unlabelled", "up of labels")};
  for (std::size_t h = 0; h < alpha_horizons; ++h)
    for (const NamedSplit& split : named_splits) {
      const LabelCounts& counts = (data.balance.*split.counts)[h];
      lines.push_back(fmt::format("{:>12} {:>11} {:>9} {:>9} {:>9} {:>11} {:>12}", data.horizons[h].text(), split.name,
                                  counts.up, counts.down, counts.tied, counts.unlabelled,
                                  counts.labelled() ? fmt::format("{:.3f}", counts.base_rate()) : "none"));
    }
  return lines;
}

}  // namespace foxhunt::alpha
