#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/profile/profile.h"

namespace foxhunt::profile {

/// Where a profile's name is looked up.
struct ProfilePaths {
  std::vector<std::filesystem::path> folders;  ///< NAME.toml is looked for in this order; they need not exist

  /// $FOXHUNT_PROFILES, ./profiles, the source tree's profiles, the installed share/foxhunt/profiles.
  static ProfilePaths standard();
};

/// A profile that can be named.
struct ProfileFile {
  std::string name;
  std::filesystem::path file;
};

/// Loads a profile: defaults, then the `extends` chain from its root on, then `overrides` ("dotted.key=TOML-VALUE", as
/// given to --set; the last of a key wins), then every check. Needs no device. When only one of training.buffer_size
/// and replay_buffer.buffer_size is set, the other follows. `name` and `description` are not inherited. Throws
/// Error(usage), one line with file and line (or --set), the key, and what was expected.
Profile load_profile(const std::string& name_or_path, const std::vector<std::string>& overrides,
                     const ProfilePaths& paths);

/// The same from the text of a resolved profile (to_toml), as a checkpoint holds it; `where` is what messages call it.
/// Throws Error(usage), also when the text extends another profile.
Profile parse_profile(const std::string& text, const std::string& where, const std::vector<std::string>& overrides);

/// The file of a profile: text that ends in .toml or holds a '/' is a path, anything else a name. Throws Error(usage)
/// with the nearest name and the folders that were searched.
std::filesystem::path find_profile(const std::string& name_or_path, const ProfilePaths& paths);

/// Every profile that can be named, by name; a name found in two folders counts in the first.
std::vector<ProfileFile> list_profiles(const ProfilePaths& paths);

}  // namespace foxhunt::profile
