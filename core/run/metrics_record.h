#pragma once
#include <filesystem>
#include <optional>
#include <vector>

#include "core/run/metrics.h"
#include "core/run/metrics_table.h"
#include "core/run/run_directory.h"
#include "core/run/tensorboard.h"

namespace foxhunt::run {

/// A run's metrics in the three forms that people read: metrics.jsonl, metrics.csv and TensorBoard event files; and
/// validation.jsonl, a line of the same kind for each evaluation of the validation split.
class MetricsRecord {
 public:
  /// Goes on where the folder has them already, but for a new event file. Throws Error(storage).
  explicit MetricsRecord(const RunDirectory& directory);
  /// Of a run that goes on after `last_step`, once rewind_metrics has been there: TensorBoard forgets what earlier
  /// event files say of later steps. Throws Error(storage).
  MetricsRecord(const RunDirectory& directory, std::int64_t last_step);

  /// A row of training: all three. Throws Error(storage).
  void append(std::int64_t step, std::span<const Metric> metrics);
  /// A line of validation.jsonl. Throws Error(storage).
  void append_validation(std::int64_t step, std::span<const Metric> metrics) { validations_.append(step, metrics); }
  /// A result beside the rows, on TensorBoard alone, as PREFIX/NAME. Throws Error(storage).
  void append_result(std::int64_t step, std::string_view prefix, std::span<const Metric> metrics) {
    events().append(step, prefix, metrics);
  }
  void append_histogram(std::int64_t step, std::string_view tag, std::span<const double> values) {
    events().append_histogram(step, tag, values);
  }
  /// What follows is told after the last checkpoint and told again by a run that goes on from it: it goes to an event
  /// file of its own, which rewind_metrics removes. Throws Error(storage).
  void start_conclusion();

  /// What a checkpoint must not be ahead of.
  std::vector<std::filesystem::path> files() const {
    return {lines_.path(), table_.path(), validations_.path(), events_.path()};
  }

 private:
  EventFile& events() { return conclusion_ ? *conclusion_ : events_; }

  std::filesystem::path folder_;
  MetricsLog lines_;
  MetricsTable table_;
  MetricsLog validations_;
  EventFile events_;
  std::optional<EventFile> conclusion_;
};

/// Brings a run's metrics back to where a checkpoint at `last_step`, after so many evaluations, was written, so that a
/// run that goes on from it tells each once: cuts metrics.jsonl and metrics.csv after that step, validation.jsonl after
/// that many lines, and removes the event file of a conclusion. Throws Error(storage).
void rewind_metrics(const RunDirectory& directory, std::int64_t last_step, std::int64_t evaluations);

}  // namespace foxhunt::run
