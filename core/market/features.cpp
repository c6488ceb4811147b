#include "core/market/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/market/feature_catalogue.h"

namespace foxhunt::market {
namespace {

struct Statistics {
  double mean, deviation;
};

/// Of a column over the training rows. One that does not vary there carries nothing: its deviation counts as 1.
Statistics statistics_of(const Column& column, const Split& train) {
  constexpr double least_deviation = 1e-6;
  const auto begin = column.begin() + train.begin, end = column.begin() + train.end;
  const auto n = static_cast<double>(train.rows());
  double sum = 0, squares = 0;
  std::for_each(begin, end, [&](double x) { sum += x; });
  const double mean = sum / n;
  std::for_each(begin, end, [&](double x) { squares += (x - mean) * (x - mean); });
  const double deviation = std::sqrt(squares / n);
  return {mean, deviation > least_deviation ? deviation : 1.0};
}

void check_finite(const Column& column, const std::string& name) {
  const auto bad = std::find_if_not(column.begin(), column.end(), [](double x) { return std::isfinite(x); });
  if (bad != column.end())
    throw Error(ExitCode::numerics, fmt::format("feature {} of row {} is {}; please report it with the data", name,
                                                bad - column.begin(), *bad));
}

void check_arguments(const Tape& tape, const Split& train, double clip) {
  if (train.begin < 0 || train.rows() < 1 || train.end > static_cast<std::int64_t>(tape.rows()))
    throw Error(ExitCode::data, fmt::format("{}: the train split [{}, {}) is not a part of the tape's {} rows",
                                            tape.bars.source, train.begin, train.end, tape.rows()));
  if (!(clip > 0 && std::isfinite(clip)))
    throw Error(ExitCode::usage, fmt::format("features.clip must be a number above 0, got {}", clip));
}

}  // namespace

FeatureTable make_features(const Tape& tape, const Split& train, double clip) {
  check_arguments(tape, train, clip);
  const FeatureInputs inputs(tape);
  const auto& features = all_features();
  FeatureTable table;
  table.values.resize(tape.rows() * features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const Column column = features[f].compute(inputs);
    check_finite(column, features[f].info.name);
    const auto [mean, deviation] = statistics_of(column, train);
    for (std::size_t i = 0; i < column.size(); ++i)
      table.values[i * features.size() + f] =
          static_cast<float>(std::clamp((column[i] - mean) / deviation, -clip, clip));
    table.names.push_back(features[f].info.name);
    table.mean.push_back(mean);
    table.deviation.push_back(deviation);
  }
  return table;
}

}  // namespace foxhunt::market
