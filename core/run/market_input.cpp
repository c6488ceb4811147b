#include "core/run/market_input.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/market/source_sum.h"
#include "core/profile/resources.h"

namespace foxhunt::run {
namespace {

/// A folder of test_data; or, where FOXHUNT_TEST_DATA names a folder of market files itself, that folder.
std::filesystem::path bundled_data(const char* name) {
  const std::filesystem::path folder = find_resource_dir("test_data"), bundled = folder / name;
  return std::filesystem::exists(bundled) ? bundled : folder;
}

}  // namespace

std::filesystem::path market_source(const profile::Profile& p) {
  if (!p.data.path.empty()) return p.data.path;
  return bundled_data(p.model == "alpha" ? "alpha-baseline" : "futures-baseline");
}

market::ReadOptions read_options(const profile::Profile::Data& data) {
  market::ReadOptions options;
  options.instrument = data.instrument;
  options.csv = {.time_column = data.csv_time_column,
                 .open_column = data.csv_open_column,
                 .high_column = data.csv_high_column,
                 .low_column = data.csv_low_column,
                 .close_column = data.csv_close_column,
                 .volume_column = data.csv_volume_column,
                 .symbol_column = data.csv_symbol_column,
                 .time_format = data.csv_time_format,
                 .time_zone = data.csv_time_zone,
                 .stamp = data.csv_stamp,
                 .delimiter = data.csv_delimiter,
                 .decimal = data.csv_decimal,
                 .features = data.csv_features};
  if (data.on_error == "skip") options.on_damage = market::DamagePolicy::keep_start;
  return options;
}

nlohmann::ordered_json data_report(const std::filesystem::path& source, const market::BookModel* model) {
  const market::SourceSum sum = market::sum_of_source(source);
  const auto place = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  nlohmann::ordered_json report = {{"source", place(source)},
                                   {"files", sum.files},
                                   {"bytes", sum.bytes},
                                   {"xxh64", fmt::format("{:016x}", sum.xxh64)}};
  if (model) report["alpha"] = {{"checkpoint", place(model->file())}, {"xxh64", model->checksum()}};
  return report;
}

market::Contract contract_of(const profile::Profile::Contract& wanted, const std::string& symbol) {
  market::Contract contract = market::contract_for(wanted.symbol.empty() ? symbol : wanted.symbol);
  if (wanted.tick_size)
    contract.tick_size = static_cast<std::int64_t>(*wanted.tick_size * static_cast<double>(market::price_scale) + 0.5);
  if (wanted.multiplier) contract.multiplier = *wanted.multiplier;
  if (wanted.commission) contract.commission = *wanted.commission;
  return contract;
}

}  // namespace foxhunt::run
