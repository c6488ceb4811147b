#include "core/alpha/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/alpha/snapshot_features.h"

namespace foxhunt::alpha {
namespace {

const std::string format_name = "foxhunt-alpha-1", state_prefix = "state.";

std::string feature_names() {
  std::vector<std::string> names;
  for (const SnapshotFeature& feature : snapshot_feature_list()) names.push_back(feature.name);
  return fmt::format("{}", fmt::join(names, " "));
}

/// In the unit that the horizons are of.
std::string lengths(const Horizons& horizons) {
  std::vector<std::int64_t> list;
  for (const Horizon& horizon : horizons) list.push_back(horizon.length());
  return fmt::format("{}", fmt::join(list, " "));
}

std::string names_of(const Horizons& horizons) {
  std::string text;
  for (const Horizon& horizon : horizons) text += (text.empty() ? "" : ", ") + horizon.text();
  return text;
}

/// The texts of a file's metadata as numbers.
class Metadata {
 public:
  Metadata(const std::filesystem::path& file, const std::map<std::string, std::string>& texts)
      : file_(file), texts_(texts) {}

  bool holds(const std::string& name) const { return texts_.contains(name); }
  const std::string& text(const std::string& name) const {
    const auto found = texts_.find(name);
    if (found == texts_.end()) throw unreadable(name, "is missing");
    return found->second;
  }
  template <class T>
  std::vector<T> numbers(const std::string& name, std::size_t count) const {
    const std::string& all = text(name);
    std::vector<T> values;
    for (const char *at = all.data(), *end = at + all.size(); at < end;) {
      T value{};
      const auto [after, error] = std::from_chars(at, end, value);
      if (error != std::errc() || (after != end && *after != ' ')) throw unreadable(name, "is no list of numbers");
      values.push_back(value);
      at = after == end ? end : after + 1;
    }
    if (values.size() != count) throw unreadable(name, fmt::format("holds {} numbers, not {}", values.size(), count));
    return values;
  }

 private:
  Error unreadable(const std::string& name, const std::string& why) const {
    return {ExitCode::storage, fmt::format("{}: metadata '{}' {}; the file was changed by another program: restore it",
                                           file_.string(), name, why)};
  }
  const std::filesystem::path& file_;
  const std::map<std::string, std::string>& texts_;
};

Horizons horizons_of(const Metadata& metadata) {
  const std::vector<std::int64_t> values = metadata.numbers<std::int64_t>("horizons", alpha_horizons);
  const bool in_rows = metadata.text("horizon_unit") == "rows";
  Horizons horizons;
  for (std::size_t h = 0; h < horizons.size(); ++h) (in_rows ? horizons[h].rows : horizons[h].nanoseconds) = values[h];
  return horizons;
}

void require_format(const std::filesystem::path& file, const run::SafetensorsFile& loaded) {
  const auto found = loaded.metadata().find("format");
  const std::string format = found == loaded.metadata().end() ? "none" : printable(found->second);
  if (format != format_name)
    throw Error(ExitCode::usage, fmt::format("{}: its format is {}, expected {}; give a checkpoint of an alpha run",
                                             file.string(), format, format_name));
}

/// The tensors of a learner by name, within its host copy.
std::vector<run::TensorView> learner_views(const Model& model, std::span<const float> learner) {
  std::vector<run::TensorView> views;
  for (const auto& [name, span] : model.learner_tensors())
    views.push_back(
        run::tensor_view(state_prefix + name, {static_cast<std::int64_t>(span.size)},
                         learner.subspan(static_cast<std::size_t>(span.data - model.learner_block().data), span.size)));
  return views;
}

}  // namespace

market::SeenRows rows_seen_of(const Dataset& data) {
  const auto last = [&](const market::Split& split) { return data.input[static_cast<std::size_t>(split.end - 1)].ts; };
  return {.instrument = data.instrument,
          .trained_until = last(data.splits.train),
          .chosen_until = last(data.splits.validation)};
}

std::optional<market::SeenRows> rows_seen_in(const run::SafetensorsFile& file) {
  const Metadata metadata(file.path(), file.metadata());
  if (!metadata.holds("trained_until")) return std::nullopt;
  return market::SeenRows{.instrument = metadata.text("instrument"),
                          .trained_until = metadata.numbers<std::int64_t>("trained_until", 1)[0],
                          .chosen_until = metadata.numbers<std::int64_t>("chosen_until", 1)[0]};
}

std::optional<market::SeenRows> rows_seen_by_both(const std::optional<market::SeenRows>& own,
                                                  const std::optional<market::SeenRows>& before) {
  if (!own || !before) return std::nullopt;
  return market::SeenRows{.instrument = own->instrument,
                          .trained_until = std::max(own->trained_until, before->trained_until),
                          .chosen_until = std::max(own->chosen_until, before->chosen_until)};
}

void save_model(const std::filesystem::path& file, const Model& model, const std::vector<float>& learner,
                const ModelDescription& description, std::map<std::string, std::string> metadata) {
  save_with_matrices(file, model.layout(), learner_views(model, learner), description, std::move(metadata));
}

void save_with_matrices(const std::filesystem::path& file, const TrunkLayout& layout,
                        std::vector<run::TensorView> views, const ModelDescription& d,
                        std::map<std::string, std::string> metadata) {
  metadata["format"] = format_name;
  metadata["hidden"] = std::to_string(d.trunk.hidden);
  metadata["tau_min"] = fmt::format("{}", d.trunk.tau_min);
  metadata["tick"] = std::to_string(d.tick);
  metadata["horizons"] = lengths(d.horizons);
  metadata["horizon_unit"] = d.horizons[0].rows > 0 ? "rows" : "ns";
  metadata["features"] = feature_names();
  if (d.seen) {
    metadata["instrument"] = d.seen->instrument;
    metadata["trained_until"] = std::to_string(d.seen->trained_until);
    metadata["chosen_until"] = std::to_string(d.seen->chosen_until);
  }
  const auto parameters = std::find_if(
      views.begin(), views.end(), [](const run::TensorView& view) { return view.name == state_prefix + "parameters"; });
  const std::span<const std::byte> all = parameters->data;
  static constexpr std::pair<const char*, const char*> names[] = {
      {"input", "bias"}, {"recurrent", "theta"}, {"projector", "bias"}, {"heads", "bias"}};
  for (int m = 0; m < TrunkLayout::matrices; ++m) {
    const auto matrix = static_cast<TrunkLayout::Matrix>(m);
    const std::int64_t inputs = layout.inputs(matrix), outputs = layout.outputs(matrix);
    const std::span<const std::byte> values = all.subspan(
        static_cast<std::size_t>(layout.table().offset[m]) * sizeof(float), layout.floats(matrix) * sizeof(float));
    const auto weights = static_cast<std::size_t>(inputs * outputs) * sizeof(float);
    const auto& [name, last] = names[m];
    views.push_back({fmt::format("{}.weight", name), run::DType::f32, {inputs, outputs}, values.first(weights)});
    views.push_back({fmt::format("{}.{}", name, last), run::DType::f32, {outputs}, values.subspan(weights)});
  }
  run::save_safetensors(file, views, metadata);
}

SavedModel load_model(const std::filesystem::path& file) {
  const run::SafetensorsFile loaded = run::SafetensorsFile::load(file);
  require_format(file, loaded);
  const Metadata metadata(file, loaded.metadata());
  SavedModel saved;
  saved.metadata = loaded.metadata();
  saved.description.trunk = {.hidden = metadata.numbers<int>("hidden", 1)[0],
                             .tau_min = metadata.numbers<float>("tau_min", 1)[0]};
  saved.description.tick = metadata.numbers<std::int64_t>("tick", 1)[0];
  saved.description.horizons = horizons_of(metadata);
  saved.description.seen = rows_seen_in(loaded);
  if (metadata.text("features") != feature_names())
    throw Error(ExitCode::usage, fmt::format("{}: it was trained on other snapshot features than this program makes; "
                                             "train it again, or use the program that made it",
                                             file.string()));
  const TrunkLayout layout(saved.description.trunk.hidden);
  const std::size_t floats = loaded.tensor("state.parameters").data.size() / sizeof(float);
  if (floats != static_cast<std::size_t>(layout.parameters()))
    throw Error(ExitCode::usage,
                fmt::format("{}: it holds {} parameters, but a trunk of {} units has {}; restore the file",
                            file.string(), floats, saved.description.trunk.hidden, layout.parameters()));
  saved.parameters.resize(floats);
  loaded.copy("state.parameters", std::span<float>(saved.parameters));
  return saved;
}

void require_shape(const std::filesystem::path& file, const ModelDescription& saved, const TrunkShape& trunk,
                   const Horizons& horizons) {
  const auto refuse = [&](const std::string& what, const std::string& has, const std::string& wanted) {
    throw Error(ExitCode::usage,
                fmt::format("{}: the model in it has {} = {}, the profile says {}; set it to that, or give a "
                            "checkpoint of the profile's own shape",
                            file.string(), what, has, wanted));
  };
  if (saved.trunk.hidden != trunk.hidden)
    refuse("alpha.hidden", std::to_string(saved.trunk.hidden), std::to_string(trunk.hidden));
  if (saved.trunk.tau_min != trunk.tau_min)
    refuse("alpha.tau_min", fmt::format("{}", saved.trunk.tau_min), fmt::format("{}", trunk.tau_min));
  if (names_of(saved.horizons) != names_of(horizons))
    refuse("alpha.horizons", names_of(saved.horizons), names_of(horizons));
}

}  // namespace foxhunt::alpha
