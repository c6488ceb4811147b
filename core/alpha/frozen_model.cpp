#include "core/alpha/frozen_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/alpha/device_dataset.h"
#include "core/alpha/evaluator.h"
#include "core/checksum.h"
#include "core/market/mapped_file.h"
#include "core/run/find_checkpoint.h"
#include "core/run/repeat.h"
#include "core/storage.h"

namespace foxhunt::alpha {
namespace {

/// Whatever is wrong with the file is a matter of storage: the profile is right to name a checkpoint.
SavedModel load(const std::filesystem::path& file) {
  try {
    return load_model(file);
  } catch (const Error& error) {
    throw Error(ExitCode::storage, fmt::format("features.alpha: {}", error.what()));
  }
}

std::string checksum_of(const std::filesystem::path& file) {
  const auto mapped = market::MappedFile::open(file);
  if (!mapped) throw storage_error("read", file, errno);
  return fmt::format("{:016x}", xxh64(mapped->bytes()));
}

std::filesystem::path checkpoint_of(const std::string& run_or_file) {
  try {
    return run::find_checkpoint(run_or_file, "");
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("features.alpha: {}", error.what()));
  }
}

}  // namespace

FrozenModel::FrozenModel(Device& device, std::filesystem::path file, Output output, std::size_t memory_limit)
    : device_(device),
      file_(std::move(file)),
      output_(output),
      memory_limit_(memory_limit),
      model_(load(file_)),
      checksum_(checksum_of(file_)) {}

/// Kinds of device round differently.
std::string FrozenModel::identity() const {
  return fmt::format("{} on {}", checksum_, run::device_kind(device_.description()));
}

std::vector<std::string> FrozenModel::names() const {
  std::vector<std::string> names;
  if (output_ == Output::projections) {
    for (int k = 1; k <= alpha_projections; ++k) names.push_back(fmt::format("alpha_projection_{}", k));
  } else {
    for (const Horizon& horizon : model_.description.horizons) names.push_back("alpha_up_" + horizon.text());
    for (std::string& name : names) std::replace(name.begin(), name.end(), ' ', '_');
  }
  return names;
}

void FrozenModel::require_tick(const market::Books& books, const market::Contract& contract) const {
  if (contract.tick_size == model_.description.tick) return;
  const auto points = [](std::int64_t price) {
    return static_cast<double>(price) / static_cast<double>(market::price_scale);
  };
  throw Error(ExitCode::data,
              fmt::format("{}: its contract has a tick of {} points, the model of features.alpha ({}) was trained with "
                          "one of {}; give a model of this contract, or set contract.tick_size",
                          books.source, points(contract.tick_size), file_.string(), points(model_.description.tick)));
}

/// [rows, names()]
std::vector<float> FrozenModel::outputs(const Dataset& data) {
  DeviceDataset dataset(device_, data, {});
  Evaluator evaluator(device_, model_.description.trunk, data, {0, static_cast<std::int64_t>(data.rows())});
  DeviceSpan<float> parameters;
  Arena arena(device_);
  dataset.plan(arena);
  evaluator.plan(arena);
  arena.plan("parameters", model_.parameters.size(), parameters);
  arena.commit(memory_limit_);
  dataset.upload();
  device_.upload(parameters, model_.parameters);
  return output_ == Output::projections ? evaluator.projections(parameters, dataset.snapshots())
                                        : evaluator.run(parameters, dataset.snapshots());
}

std::vector<market::ExtraColumn> FrozenModel::columns(const market::Books& books, const market::Contract& contract,
                                                      const market::TapeOptions& sessions) {
  require_tick(books, contract);
  DatasetOptions options;
  options.horizons = model_.description.horizons;
  options.contract = contract;
  options.calendar = sessions.calendar;
  options.session_gap = sessions.session_gap;
  const std::vector<float> values = outputs(make_unlabelled_dataset(books, options));
  std::vector<market::ExtraColumn> columns;
  for (const std::string& name : names()) columns.push_back({name, std::vector<double>(books.rows())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    market::ExtraColumn& column = columns[i % columns.size()];
    const std::size_t row = i / columns.size();
    if (!std::isfinite(values[i]))
      throw Error(ExitCode::numerics, fmt::format("{}: its {} after row {} of {} is {}; the model is of no use",
                                                  file_.string(), column.name, row, books.source, values[i]));
    column.values[row] = values[i];
  }
  return columns;
}

std::unique_ptr<market::BookModel> open_book_model(Device& device, const profile::Profile& profile) {
  if (profile.features.alpha.empty()) return nullptr;
  const bool projections = profile.features.alpha_outputs == "projections";
  return std::make_unique<FrozenModel>(
      device, checkpoint_of(profile.features.alpha),
      projections ? FrozenModel::Output::projections : FrozenModel::Output::probabilities,
      static_cast<std::size_t>(profile.device.memory_limit) << 20);
}

}  // namespace foxhunt::alpha
