#include "core/run/metrics_record.h"

namespace foxhunt::run {

MetricsRecord::MetricsRecord(const RunDirectory& directory)
    : lines_(directory.metrics_file()), table_(directory.metrics_table_file()), events_(directory.path()) {}

void MetricsRecord::append(std::int64_t step, std::span<const Metric> metrics) {
  lines_.append(step, metrics);
  table_.append(step, metrics);
  events_.append(step, "train", metrics);
}

}  // namespace foxhunt::run
