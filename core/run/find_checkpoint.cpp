#include "core/run/find_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/run/run_index.h"

namespace foxhunt::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".safetensors";

std::vector<std::string> checkpoint_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;  // a folder that is absent or closed to us holds none
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    if (entry->path().extension() == extension) names.push_back(entry->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

fs::path find_checkpoint(const fs::path& run_or_file, const std::string& name) {
  std::error_code ignored;
  if (!fs::exists(run_or_file, ignored)) return find_checkpoint(find_run(run_or_file.string(), "runs").folder, name);
  if (!fs::is_directory(run_or_file, ignored)) {
    if (name.empty()) return run_or_file;
    throw Error(ExitCode::usage, fmt::format("{} is a checkpoint already; --checkpoint {} needs a run's folder",
                                             run_or_file.string(), name));
  }
  const fs::path folder = run_or_file / "checkpoints";
  const std::vector<std::string> names = checkpoint_names(folder);
  const std::vector<std::string> wanted = name.empty() ? std::vector<std::string>{"best", "last"} : std::vector{name};
  for (const std::string& candidate : wanted)
    if (std::find(names.begin(), names.end(), candidate) != names.end()) return folder / (candidate + extension);
  throw Error(ExitCode::usage, fmt::format("{}: no checkpoint {}; {}", run_or_file.string(), fmt::join(wanted, " or "),
                                           names.empty() ? "expected checkpoints/*.safetensors there"
                                                         : fmt::format("there are {}", fmt::join(names, ", "))));
}

}  // namespace foxhunt::run
