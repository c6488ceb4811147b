#include "core/run/metrics_record.h"

#include <system_error>

#include "core/run/rewind_lines.h"

namespace foxhunt::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view conclusion_ending = ".conclusion";

void remove_conclusions(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> conclusions;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (entry->path().filename().string().ends_with(conclusion_ending)) conclusions.push_back(entry->path());
  if (failure) throw storage_error("read the folder", folder, failure.value());
  for (const fs::path& file : conclusions)
    if (fs::remove(file, failure); failure) throw storage_error("remove", file, failure.value());
}

}  // namespace

MetricsRecord::MetricsRecord(const RunDirectory& directory)
    : folder_(directory.path()),
      lines_(directory.metrics_file()),
      table_(directory.metrics_table_file()),
      validations_(directory.validation_file()),
      events_(directory.path()) {}

MetricsRecord::MetricsRecord(const RunDirectory& directory, std::int64_t last_step) : MetricsRecord(directory) {
  events_.append_restart(last_step + 1);
}

void MetricsRecord::append(std::int64_t step, std::span<const Metric> metrics) {
  lines_.append(step, metrics);
  table_.append(step, metrics);
  events_.append(step, "train", metrics);
}

void MetricsRecord::start_conclusion() { conclusion_.emplace(folder_, conclusion_ending); }

void rewind_metrics(const RunDirectory& directory, std::int64_t last_step, std::int64_t evaluations) {
  rewind_lines(directory.metrics_file(), last_step);
  rewind_lines(directory.metrics_table_file(), last_step);
  keep_lines(directory.validation_file(), evaluations);
  remove_conclusions(directory.path());
}

}  // namespace foxhunt::run
