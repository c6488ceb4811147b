#include "core/run/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace foxhunt::run {
namespace {

void name_non_finite_numbers(nlohmann::ordered_json& value) {
  if (value.is_structured())
    for (auto& element : value) name_non_finite_numbers(element);
  if (!value.is_number_float()) return;
  const double number = value.get<double>();
  if (std::isnan(number))
    value = "NaN";
  else if (std::isinf(number))
    value = number > 0 ? "Infinity" : "-Infinity";
}

}  // namespace

std::string json_text(const nlohmann::ordered_json& value, int indent) {
  nlohmann::ordered_json finite = value;
  name_non_finite_numbers(finite);
  return finite.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace foxhunt::run
