#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/kernels.h"
#include "core/market/books.h"
#include "core/market/tape.h"

namespace foxhunt::alpha {

/// How far ahead a label looks: rows or time, exactly one of them above zero.
struct Horizon {
  std::int64_t rows = 0;
  std::int64_t nanoseconds = 0;

  std::int64_t length() const { return rows + nanoseconds; }
  std::string text() const;  ///< "10 rows", "1 row", "250 ms", "1 s"
};
using Horizons = std::array<Horizon, alpha_horizons>;

struct DatasetOptions {
  Horizons horizons{};          ///< of one unit, strictly ascending
  market::Contract contract{};  ///< tick size, calendar
  std::string calendar = "auto";
  std::int64_t session_gap = 30LL * 60 * 1'000'000'000;  ///< ns; a longer pause starts a new session
  double train_fraction = 0.7, validation_fraction = 0.15;
  std::int64_t purge_rows = 0;  ///< left out at the start of validation and of test, besides what labels need
  int steps = 64;               ///< rows of a training window: one has to fit into every split
};

/// What became of the rows of a split at one horizon.
struct LabelCounts {
  std::int64_t up = 0, down = 0;
  std::int64_t tied = 0;        ///< the mid is the same: masked
  std::int64_t unlabelled = 0;  ///< no mid at the row or its target, or no target within split and session

  std::int64_t labelled() const { return up + down; }
  /// Share of the labels that are up; one label or more.
  double base_rate() const { return static_cast<double>(up) / static_cast<double>(labelled()); }
};

struct LabelBalance {
  std::array<LabelCounts, alpha_horizons> train, validation, test;
};

/// Snapshots of a book with their labels, in columns of one length. Row i is row i of the books, one-sided ones
/// included: features mask what is not there.
///
/// label[i, h] is 1 where mid(t + h) > mid(t) and 0 where it is lower, on the plain mids, best bid + best ask, in
/// integers. A horizon in rows looks at row i + h; one in time at the last row known at t + h or before, so that a
/// label needs no row after t + h. It is no_label where the two mids are equal, where a row has no mid, and where t + h
/// lies after the last row of the session, the instrument or the split: no label of a split has seen the next one, and
/// no gap between them is needed.
struct Dataset {
  std::vector<Mbp10RawInput> input;
  std::vector<float> seconds;           ///< since the row before; 0 for the first of a session
  std::vector<std::uint8_t> labels;     ///< [rows, 5]: 0, 1, no_label
  std::vector<std::int32_t> session;    ///< ascending from 0; another instrument is another session
  std::vector<std::int64_t> twice_mid;  ///< best bid + best ask, 1e-9 points; no_mid of a one-sided row
  market::Splits splits;                ///< chronological, on session starts where there are sessions enough
  std::int64_t tick = 0;                ///< 1e-9 points
  Horizons horizons{};
  std::array<double, alpha_horizons> label_rows{};  ///< rows from a label's row to its target, mean over all splits
  LabelBalance balance;
  std::string source;                           ///< file or folder of the books
  std::string instrument;                       ///< symbol of the contract
  std::string calendar;                         ///< what divided the sessions besides pauses
  std::map<std::string, std::int64_t> rejects;  ///< rows that the reader left out, by reason
  std::vector<std::string> notes;               ///< of the reader and of the sessions, a line each

  static constexpr std::int64_t no_mid = INT64_MIN;
  std::size_t rows() const { return input.size(); }
  std::int64_t sessions() const { return session.empty() ? 0 : session.back() + 1; }
};

/// Throws Error(usage) for horizons that are not as Horizon and DatasetOptions say, and Error(data), which names the
/// source, for books without ten levels, more than 2^31 - 1 rows, splits without a window of `steps` rows, a horizon
/// beyond the data or at which every mid is tied, and one at which a split has labels of one class alone (its AUC is
/// not defined).
Dataset make_dataset(const market::Books& books, const DatasetOptions& options);

/// The same without labels and splits, for a model that is trained already: no_label throughout, and all splits empty.
/// Of the options it takes horizons, contract, calendar and session_gap. Throws Error(data) for books as above.
Dataset make_unlabelled_dataset(const market::Books& books, const DatasetOptions& options);

/// The rows of a split, session by session: half-open, none empty. A state is carried through one, and not into the
/// next.
std::vector<market::Split> session_ranges(const Dataset& data, const market::Split& split);

/// First rows of windows of `steps` rows that lie within the split and one session, every `stride` rows from the start
/// of each session: stride = 1 gives all windows, stride = steps those that do not overlap.
std::vector<std::int32_t> window_starts(const Dataset& data, const market::Split& split, int steps, int stride = 1);

/// The class balance of each horizon and split as a table for people, a line each.
std::vector<std::string> balance_lines(const Dataset& data);

}  // namespace foxhunt::alpha
