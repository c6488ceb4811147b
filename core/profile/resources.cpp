#include "core/profile/resources.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/error.h"

namespace foxhunt {
namespace fs = std::filesystem;

std::vector<fs::path> resource_dirs(const std::string& kind) {
  const bool profiles = kind == "profiles";
  const char* variable = profiles ? "FOXHUNT_PROFILES" : "FOXHUNT_TEST_DATA";
  std::error_code ignored;
  std::vector<fs::path> folders;
  if (const char* named = std::getenv(variable); named && *named) {
    if (!fs::is_directory(named, ignored)) {
      throw Error(ExitCode::usage, fmt::format("{}={}: expected a folder; correct it or unset it", variable, named));
    }
    folders.emplace_back(named);
    if (!profiles) return folders;
  }
  folders.emplace_back(kind);
  folders.push_back(fs::path(FOXHUNT_SOURCE_DIR) / kind);
  const fs::path binary = fs::read_symlink("/proc/self/exe", ignored);
  if (!binary.empty()) folders.push_back(binary.parent_path().parent_path() / "share" / "foxhunt" / kind);
  return folders;
}

fs::path find_resource_dir(const std::string& kind) {
  std::string looked;
  std::error_code ignored;
  for (const fs::path& folder : resource_dirs(kind)) {
    if (fs::is_directory(folder, ignored)) return folder;
    looked += (looked.empty() ? "" : ", ") + folder.string();
  }
  throw Error(ExitCode::usage, fmt::format("no {} folder found; looked for {}", kind, looked));
}

}  // namespace foxhunt
