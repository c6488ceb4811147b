#pragma once
#include <string>
#include <vector>

#include "core/run/metrics.h"

namespace foxhunt::run {

/// metrics.csv (RFC 4180): `step` and the metrics of the first row are the columns, for good. A row that lacks one of
/// them leaves its field empty; a metric that has no column is in metrics.jsonl alone. Non-finite values are written as
/// NaN, Infinity, -Infinity, which spreadsheets and data frames read.
class MetricsTable {
 public:
  /// Creates the file, or goes on after the last whole row of one that exists, with its columns. Throws
  /// Error(storage), also when the file opens with no header of this kind.
  explicit MetricsTable(const std::filesystem::path& path);

  /// Throws Error(storage) when the row cannot be written; the file then ends with the row before it.
  void append(std::int64_t step, std::span<const Metric> metrics);

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendFile file_;
  std::vector<std::string> columns_;  ///< without `step`; empty before the first row
};

}  // namespace foxhunt::run
