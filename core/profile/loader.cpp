#include "core/profile/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/profile/checks.h"
#include "core/profile/document.h"
#include "core/profile/resources.h"

namespace foxhunt::profile {
namespace {

namespace fs = std::filesystem;

bool is_path(const std::string& text) { return text.ends_with(".toml") || text.find('/') != std::string::npos; }

/// The file that `child` extends: a path is relative to the child's folder, a name is looked up there first.
fs::path find_parent(const Document& child, const ProfilePaths& paths) {
  const fs::path folder = child.file.parent_path();
  try {
    if (is_path(child.extends)) return find_profile((folder / child.extends).string(), paths);
    ProfilePaths near = paths;
    near.folders.insert(near.folders.begin(), folder.empty() ? fs::path(".") : folder);
    return find_profile(child.extends, near);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: extends: {}", child.extends_where, error.what()));
  }
}

/// The profile's own file first, the root of its `extends` chain last.
std::vector<Document> read_chain(const fs::path& file, const ProfilePaths& paths) {
  std::vector<Document> chain;
  std::vector<fs::path> seen;
  for (fs::path next = file;;) {
    const fs::path identity = fs::weakly_canonical(next);
    if (std::find(seen.begin(), seen.end(), identity) != seen.end()) {
      std::string round;
      for (const Document& document : chain) round += document.file.filename().string() + " -> ";
      throw Error(ExitCode::usage, fmt::format("{}: extends: goes round in a circle ({}{}); expected a chain that ends",
                                               chain.back().extends_where, round, next.filename().string()));
    }
    seen.push_back(identity);
    chain.push_back(read_document(next));
    if (chain.back().extends.empty()) return chain;
    next = find_parent(chain.back(), paths);
  }
}

bool inherited(const Key& key) { return key.name != "name" && key.name != "description"; }

/// A file of the chain, or everything that --set says.
struct Layer {
  std::vector<Setting> settings;  ///< later ones win
  bool own = false;               ///< name and description count here alone
};

/// In the order in which they are applied.
std::vector<Layer> layers_of(std::vector<Document> chain, const std::vector<std::string>& overrides) {
  std::vector<Layer> layers;
  for (auto document = chain.rbegin(); document != chain.rend(); ++document)
    layers.push_back({std::move(document->settings), &*document == &chain.front()});
  Layer& last = layers.emplace_back(Layer{.settings = {}, .own = true});
  for (const std::string& argument : overrides) last.settings.push_back(read_override(argument));
  return layers;
}

/// The last setting of gpu_profile and the layer it stands in; nothing when it is never set.
std::optional<std::pair<std::size_t, Setting>> gpu_setting(const std::vector<Layer>& layers) {
  std::optional<std::pair<std::size_t, Setting>> last;
  for (std::size_t i = 0; i < layers.size(); ++i)
    for (const Setting& setting : layers[i].settings)
      if (setting.key->name == "gpu_profile") last.emplace(i, setting);
  return last;
}

/// What the files of a GPU profile set, its root first.
Layer gpu_layer(const std::string& name, const std::string& where, const ProfilePaths& paths) {
  Layer layer;
  try {
    for (Layer& file : layers_of(read_chain(find_profile(name, paths), paths), {}))
      layer.settings.insert(layer.settings.end(), file.settings.begin(), file.settings.end());
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: gpu_profile: {}", where, error.what()));
  }
  std::erase_if(layer.settings, [](const Setting& setting) { return setting.key->name == "gpu_profile"; });
  return layer;
}

/// Two names of one number: the one that was set speaks for both.
void follow_buffer_size(Profile& profile, const Origins& origins) {
  const bool training = origins.contains("training.buffer_size");
  const bool replay = origins.contains("replay_buffer.buffer_size");
  if (training && !replay) profile.replay_buffer.buffer_size = profile.training.buffer_size;
  if (replay && !training) profile.training.buffer_size = profile.replay_buffer.buffer_size;
}

struct Merged {
  Profile profile;
  Origins origins;
};

Merged merged(const std::vector<Layer>& layers, const std::string& file_stem) {
  Merged result{default_profile(), {}};
  for (const Layer& layer : layers) {
    for (const Setting& setting : layer.settings) {
      if (!layer.own && !inherited(*setting.key)) continue;
      set_value(*setting.key, setting.value, result.profile);
      result.origins[setting.key->name] = setting.where;
    }
  }
  if (result.profile.name.empty()) result.profile.name = file_stem;
  follow_buffer_size(result.profile, result.origins);
  return result;
}

Profile checked(const std::vector<Layer>& layers, const std::string& file_stem) {
  const Merged result = merged(layers, file_stem);
  check_profile(result.profile, result.origins);
  return result.profile;
}

}  // namespace

ProfilePaths ProfilePaths::standard() { return {resource_dirs("profiles")}; }

std::vector<ProfileFile> list_profiles(const ProfilePaths& paths) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : paths.folders) {
    std::error_code ignored;  // a folder that is absent or closed to us holds no profiles
    for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
      if (entry->path().extension() == ".toml") found.emplace(entry->path().stem().string(), entry->path());
    }
  }
  std::vector<ProfileFile> files;
  for (const auto& [name, file] : found) files.push_back({name, file});
  return files;
}

fs::path find_profile(const std::string& name_or_path, const ProfilePaths& paths) {
  std::error_code ignored;
  if (is_path(name_or_path)) {
    if (fs::exists(name_or_path, ignored)) return name_or_path;
    throw Error(ExitCode::usage, fmt::format("{}: no such profile file; a shipped profile is named without folder and "
                                             ".toml (see foxhunt-train profiles list)",
                                             name_or_path));
  }
  std::vector<std::string> searched;
  for (const fs::path& folder : paths.folders) {
    const fs::path file = folder / (name_or_path + ".toml");
    if (!name_or_path.empty() && fs::exists(file, ignored)) return file;
    searched.push_back(folder.string());
  }
  std::vector<std::string> names;
  for (const ProfileFile& known : list_profiles(paths)) names.push_back(known.name);
  const std::string near = nearest_name(name_or_path, names);
  throw Error(ExitCode::usage, fmt::format("no profile \"{}\"{}; looked in {}", name_or_path,
                                           near.empty() ? fmt::format("; known: {}", fmt::join(names, ", "))
                                                        : fmt::format("; did you mean {}?", near),
                                           fmt::join(searched, ", ")));
}

Profile load_profile(const std::string& name_or_path, const std::vector<std::string>& overrides,
                     const ProfilePaths& paths, const GpuProfileChoice& choose) {
  const fs::path file = find_profile(name_or_path, paths);
  std::vector<Layer> layers = layers_of(read_chain(file, paths), overrides);
  const std::string stem = file.stem().string();
  const auto gpu = gpu_setting(layers);
  if (!gpu) return checked(layers, stem);

  std::string name = std::get<std::string>(gpu->second.value);
  if (name == "auto") {
    if (!choose) return checked(layers, stem);
    name = choose(merged(layers, stem).profile);
  }
  if (name != "none") {
    const auto at = layers.begin() + static_cast<std::ptrdiff_t>(gpu->first);
    layers.insert(at, gpu_layer(name, gpu->second.where, paths));
  }
  layers.back().settings.push_back({gpu->second.key, name, gpu->second.where});
  return checked(layers, stem);
}

void draw_seed(Profile& profile) {
  if (profile.run.seed) return;
  std::random_device device;
  profile.run.seed = std::uniform_int_distribution<std::int64_t>(0, (std::int64_t{1} << 53) - 1)(device);
}

}  // namespace foxhunt::profile
