#pragma once
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>

#include "core/run/append_file.h"

namespace foxhunt::run {

struct Metric {
  std::string_view name;
  double value;
};

/// metrics.jsonl: one JSON object a line, `step` first, then the metrics in the order given. Non-finite values are
/// written as "NaN", "Infinity", "-Infinity". A line is on its way to the disk when append() returns, whole or not at
/// all.
class MetricsLog {
 public:
  /// Creates the file, or goes on after the last whole line of one that exists. Throws Error(storage).
  explicit MetricsLog(const std::filesystem::path& path) : file_(AppendFile::of_lines(path)) {}

  /// Throws Error(storage) when the line cannot be written; the file then ends with the line before it.
  void append(std::int64_t step, std::span<const Metric> metrics);
  void append(std::int64_t step, std::initializer_list<Metric> metrics) {
    append(step, std::span<const Metric>(metrics.begin(), metrics.size()));
  }

  const std::filesystem::path& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace foxhunt::run
