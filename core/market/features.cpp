#include "core/market/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/market/feature_catalogue.h"
#include "core/market/timeframe_features.h"

namespace foxhunt::market {
namespace {

struct Statistics {
  double mean, deviation;
};

/// Of a column over the training rows. One that does not vary there carries nothing: its deviation counts as 1.
Statistics statistics_of(const Series& column, const Split& train, double least_deviation) {
  const auto begin = column.begin() + train.begin, end = column.begin() + train.end;
  const auto n = static_cast<double>(train.rows());
  double sum = 0, squares = 0;
  std::for_each(begin, end, [&](double x) { sum += x; });
  const double mean = sum / n;
  std::for_each(begin, end, [&](double x) { squares += (x - mean) * (x - mean); });
  const double deviation = std::sqrt(squares / n);
  return {mean, deviation > least_deviation ? deviation : 1.0};
}

/// Mean of the training values that are known; 0 when none is.
double known_mean(const Series& values, const Split& train) {
  double sum = 0;
  std::int64_t known = 0;
  for (std::int64_t i = train.begin; i < train.end; ++i)
    if (const double x = values[static_cast<std::size_t>(i)]; !std::isnan(x)) sum += x, ++known;
  return known ? sum / static_cast<double>(known) : 0;
}

/// Takes the last known value where there is none. Before the first there is nothing to know, and the rows are given
/// the mean, which is 0 once standardised.
Series filled(const Series& values, double mean) {
  double last = mean;
  Series result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) last = values[i];
    result[i] = last;
  }
  return result;
}

/// A file's columns come in any unit: only rounding counts as not varying.
double least_deviation_of(const Series& column, const Split& train) {
  double largest = 0;
  for (std::int64_t i = train.begin; i < train.end; ++i)
    largest = std::max(largest, std::abs(column[static_cast<std::size_t>(i)]));
  return 1e-12 * largest;
}

void check_finite(const Series& column, const std::string& name) {
  const auto bad = std::find_if_not(column.begin(), column.end(), [](double x) { return std::isfinite(x); });
  if (bad != column.end())
    throw Error(ExitCode::numerics, fmt::format("feature {} of row {} is {}; please report it with the data", name,
                                                bad - column.begin(), *bad));
}

void check_train(const Tape& tape, const Split& train) {
  if (train.begin < 0 || train.rows() < 1 || train.end > static_cast<std::int64_t>(tape.rows()))
    throw Error(ExitCode::data, fmt::format("{}: the train split [{}, {}) is not a part of the tape's {} rows",
                                            tape.bars.source, train.begin, train.end, tape.rows()));
}

void check_clip(double clip) {
  if (!(clip > 0 && std::isfinite(clip)))
    throw Error(ExitCode::usage, fmt::format("features.clip must be a number above 0, got {}", clip));
}

/// The names of all columns: the catalogue's, the timeframes', then the bars' own.
std::vector<std::string> names_of(const Tape& tape, const std::vector<std::int64_t>& timeframes) {
  std::vector<std::string> names;
  for (const Feature& feature : all_features()) names.push_back(feature.info.name);
  for (const std::int64_t minutes : timeframes)
    for (const FeatureInfo& info : timeframe_feature_infos(minutes)) names.push_back(info.name);
  for (const ExtraColumn& column : tape.bars.extra) {
    if (std::find(names.begin(), names.end(), column.name) != names.end())
      throw Error(ExitCode::usage,
                  fmt::format("data.csv_features: there is a feature {} already; name each column once, and rename one "
                              "that is called like a built-in feature (see `foxhunt-train data features`)",
                              column.name));
    names.push_back(column.name);
  }
  return names;
}

void require_features(const std::vector<std::string>& names, const Standardisation& model, const std::string& source) {
  std::vector<std::string> missing;
  for (const std::string& name : model.names)
    if (std::find(names.begin(), names.end(), name) == names.end()) missing.push_back(name);
  if (missing.empty()) return;
  throw Error(ExitCode::data,
              fmt::format("{}: the model takes {} features that this market does not have: {}; give "
                          "data with these columns (data.csv_features, features.timeframes, features.alpha)",
                          source, missing.size(), fmt::join(missing, ", ")));
}

/// Calls add(column) for each column that is computed, in the order of names_of, then add_extra(column) for the bars'
/// own, in which values may be missing.
template <class Add, class AddExtra>
void for_each_column(const Tape& tape, const std::vector<std::int64_t>& timeframes, const Add& add,
                     const AddExtra& add_extra) {
  const FeatureInputs inputs(tape);
  for (const Feature& feature : all_features()) add(feature.compute(inputs));
  for (const std::int64_t minutes : timeframes)
    for (const Series& column : timeframe_features(tape, inputs, minutes)) add(column);
  for (const ExtraColumn& extra : tape.bars.extra) add_extra(extra.values);
}

/// Writes a column of the table, standardised and clipped.
void standardise(const Series& column, const Statistics& statistics, double clip, std::size_t f, std::size_t width,
                 std::vector<float>& values) {
  for (std::size_t i = 0; i < column.size(); ++i)
    values[i * width + f] =
        static_cast<float>(std::clamp((column[i] - statistics.mean) / statistics.deviation, -clip, clip));
}

}  // namespace

Standardisation standardisation_of(const FeatureTable& table) { return {table.names, table.mean, table.deviation}; }

FeatureTable make_features(const Tape& tape, const Split& train, double clip,
                           const std::vector<std::int64_t>& timeframes) {
  check_train(tape, train);
  check_clip(clip);
  FeatureTable table;
  table.names = names_of(tape, timeframes);
  std::vector<float> values(tape.rows() * table.width());
  const auto add = [&](const Series& column, double least) {
    const std::size_t f = table.mean.size();
    check_finite(column, table.names[f]);
    const Statistics statistics = statistics_of(column, train, least);
    standardise(column, statistics, clip, f, table.width(), values);
    table.mean.push_back(statistics.mean);
    table.deviation.push_back(statistics.deviation);
  };
  constexpr double least_deviation = 1e-6;  // of the catalogue's features, which are measured by the market's own scale
  for_each_column(
      tape, timeframes, [&](const Series& column) { add(column, least_deviation); },
      [&](const Series& extra) {
        const Series column = filled(extra, known_mean(extra, train));
        add(column, least_deviation_of(column, train));
      });
  table.values = std::move(values);
  return table;
}

FeatureTable make_features(const Tape& tape, const Standardisation& model, double clip,
                           const std::vector<std::int64_t>& timeframes) {
  check_clip(clip);
  const std::vector<std::string> names = names_of(tape, timeframes);
  require_features(names, model, tape.bars.source);
  FeatureTable table{model.names, {}, model.mean, model.deviation};
  std::vector<float> values(tape.rows() * table.width());
  std::size_t next = 0;
  const auto add = [&](const Series& column, bool may_miss) {
    const auto found = std::find(model.names.begin(), model.names.end(), names[next++]);
    if (found == model.names.end()) return;
    const auto f = static_cast<std::size_t>(found - model.names.begin());
    const Series known = may_miss ? filled(column, model.mean[f]) : column;
    check_finite(known, *found);
    standardise(known, {model.mean[f], model.deviation[f]}, clip, f, table.width(), values);
  };
  for_each_column(
      tape, timeframes, [&](const Series& column) { add(column, false); },
      [&](const Series& extra) { add(extra, true); });
  table.values = std::move(values);
  return table;
}

}  // namespace foxhunt::market
