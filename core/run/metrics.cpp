#include "core/run/metrics.h"

#include <nlohmann/json.hpp>
#include <string>

#include "core/run/json.h"

namespace foxhunt::run {

void MetricsLog::append(std::int64_t step, std::span<const Metric> metrics) {
  nlohmann::ordered_json object;
  object["step"] = step;
  for (const Metric& metric : metrics) object[std::string(metric.name)] = metric.value;
  file_.append(json_text(object) + "\n");
}

}  // namespace foxhunt::run
