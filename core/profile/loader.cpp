#include "core/profile/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

void apply(const Setting& setting, Profile& profile, Origins& origins) {
  set_value(*setting.key, setting.value, profile);
  origins[setting.key->name] = setting.where;
}

/// Two names of one number: the one that was set speaks for both.
void follow_buffer_size(Profile& profile, const Origins& origins) {
  const bool training = origins.contains("training.buffer_size");
  const bool replay = origins.contains("replay_buffer.buffer_size");
  if (training && !replay) profile.replay_buffer.buffer_size = profile.training.buffer_size;
  if (replay && !training) profile.training.buffer_size = profile.replay_buffer.buffer_size;
}

/// `name` is for a profile that has none of its own.
Profile resolve(const std::vector<Document>& chain, const std::vector<std::string>& overrides,
                const std::string& name) {
  Profile profile = default_profile();
  Origins origins;
  for (auto document = chain.rbegin(); document != chain.rend(); ++document) {
    const bool own = &*document == &chain.front();
    for (const Setting& setting : document->settings) {
      if (own || inherited(*setting.key)) apply(setting, profile, origins);
    }
  }
  for (const std::string& argument : overrides) apply(read_override(argument), profile, origins);
  if (profile.name.empty()) profile.name = name;
  follow_buffer_size(profile, origins);
  check_profile(profile, origins);
  return profile;
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
                     const ProfilePaths& paths) {
  const fs::path file = find_profile(name_or_path, paths);
  return resolve(read_chain(file, paths), overrides, file.stem().string());
}

Profile parse_profile(const std::string& text, const std::string& where, const std::vector<std::string>& overrides) {
  const Document document = parse_document(text, where);
  if (!document.extends.empty())
    throw Error(ExitCode::usage,
                fmt::format("{}: extends: expected a resolved profile, which stands alone", document.extends_where));
  return resolve({document}, overrides, "");
}

}  // namespace foxhunt::profile
