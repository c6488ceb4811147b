#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace foxhunt::run {

/// The metrics of a run in as many points as a chart can show.
struct Series {
  struct Point {
    double mean = 0;         ///< of the finite values
    std::int64_t count = 0;  ///< finite values
    double not_finite = 0;   ///< the first NaN or infinity that the point stands for; 0: none
    bool absent() const { return count == 0 && not_finite == 0; }
    /// A NaN is shown as such, not averaged away.
    double value() const { return not_finite == 0 ? mean : not_finite; }
  };
  struct Column {
    std::string name;
    std::vector<Point> points;
  };

  std::vector<std::int64_t> step;  ///< the last one that each point stands for
  std::vector<Column> columns;     ///< in the order of their first appearance; as long as `step` each
  std::int64_t rows_per_point = 1, rows = 0;
  std::int64_t damaged = 0;  ///< whole lines that are no row of metrics, left out
};

/// Reads metrics.jsonl; a last line without its end is still being written and left out. Holds at most `max_points`
/// (an even number) points however long the file is. Throws Error(storage) when the file cannot be read.
Series read_series(const std::filesystem::path& metrics_file, std::size_t max_points);

}  // namespace foxhunt::run
