#pragma once
#include "core/run/metrics.h"
#include "core/run/metrics_table.h"
#include "core/run/run_directory.h"
#include "core/run/tensorboard.h"

namespace foxhunt::run {

/// A run's metrics in the three forms that people read: metrics.jsonl, metrics.csv and a TensorBoard event file.
class MetricsRecord {
 public:
  /// Goes on where the folder has the first two already. Throws Error(storage).
  explicit MetricsRecord(const RunDirectory& directory);

  /// A row of training: all three. Throws Error(storage).
  void append(std::int64_t step, std::span<const Metric> metrics);
  /// A result beside the rows, on TensorBoard alone, as PREFIX/NAME. Throws Error(storage).
  void append_result(std::int64_t step, std::string_view prefix, std::span<const Metric> metrics) {
    events_.append(step, prefix, metrics);
  }
  void append_histogram(std::int64_t step, std::string_view tag, std::span<const double> values) {
    events_.append_histogram(step, tag, values);
  }

 private:
  MetricsLog lines_;
  MetricsTable table_;
  EventFile events_;
};

}  // namespace foxhunt::run
