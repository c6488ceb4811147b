#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace foxhunt {

/// Folders where something that ships with the program may lie, best first; they need not exist. `kind` is "profiles"
/// or "test_data". In order: the folder named by FOXHUNT_PROFILES or FOXHUNT_TEST_DATA, ./KIND, the source tree's, the
/// installed ../share/foxhunt/KIND beside the binary. FOXHUNT_TEST_DATA stands alone when it is set. Throws
/// Error(usage) when a variable names no folder.
std::vector<std::filesystem::path> resource_dirs(const std::string& kind);

/// The first of them that exists. Throws Error(usage), naming every place, when none does.
std::filesystem::path find_resource_dir(const std::string& kind);

}  // namespace foxhunt
